/** The screen for who writes programs. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const developerScreens: readonly ScreenRoute[] = [
  {
    path: 'developers',
    menu: 'developers',
    needs: 'requests',
    load: async () => (await import('./developers-screen.tsx')).DevelopersScreen,
  },
]
