/** The screen of money. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const billingScreens: readonly ScreenRoute[] = [
  {
    path: 'billing',
    menu: 'billing',
    needs: 'billing:read',
    load: async () => (await import('./billing-screen.tsx')).BillingScreen,
  },
]
