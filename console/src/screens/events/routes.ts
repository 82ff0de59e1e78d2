/** The feed of events. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const eventScreens: readonly ScreenRoute[] = [
  {
    path: 'events',
    needs: 'events:read',
    menu: 'events',
    load: async () => (await import('./events-screen.tsx')).EventsScreen,
  },
  { path: 'events/$id', needs: 'events:read', load: async () => (await import('./event-screen.tsx')).EventScreen },
]
