/** The screens of messages. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const messageScreens: readonly ScreenRoute[] = [
  {
    path: 'messages',
    menu: 'messages',
    needs: 'messages:read',
    load: async () => (await import('./messages-screen.tsx')).MessagesScreen,
  },
  {
    path: 'messages/$id',
    needs: 'messages:read',
    load: async () => (await import('./message-screen.tsx')).MessageScreen,
  },
]
