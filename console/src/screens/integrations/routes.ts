/** Sources of events. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const integrationScreens: readonly ScreenRoute[] = [
  {
    path: 'integrations',
    needs: 'integrations:read',
    menu: 'integrations',
    load: async () => (await import('./sources-screen.tsx')).SourcesScreen,
  },
  {
    path: 'integrations/$id',
    needs: 'integrations:read',
    load: async () => (await import('./source-screen.tsx')).SourceScreen,
  },
]
