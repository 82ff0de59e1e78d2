/** The screen of contact lists. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const contactListScreens: readonly ScreenRoute[] = [
  {
    path: 'lists',
    menu: 'lists',
    needs: 'contacts:read',
    load: async () => (await import('./lists-screen.tsx')).ListsScreen,
  },
]
