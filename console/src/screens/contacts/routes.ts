/** The screens of contacts. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const contactScreens: readonly ScreenRoute[] = [
  {
    path: 'contacts',
    menu: 'contacts',
    needs: 'contacts:read',
    load: async () => (await import('./contacts-screen.tsx')).ContactsScreen,
  },
  {
    path: 'contacts/$id',
    needs: 'contacts:read',
    load: async () => (await import('./contact-screen.tsx')).ContactScreen,
  },
]
