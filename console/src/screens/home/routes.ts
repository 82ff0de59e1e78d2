/** The screen that comes first. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const homeScreens: readonly ScreenRoute[] = [
  { path: '/', menu: 'home', load: async () => (await import('./home-screen.tsx')).HomeScreen },
]
