/** The screen of the inbox. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const inboxScreens: readonly ScreenRoute[] = [
  {
    path: 'inbox',
    menu: 'inbox',
    needs: 'messages:read',
    load: async () => (await import('./inbox-screen.tsx')).InboxScreen,
  },
]
