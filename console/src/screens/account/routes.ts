/** The screens of an account itself. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const accountOwnScreens: readonly ScreenRoute[] = [
  { path: 'team', menu: 'team', needs: 'team', load: async () => (await import('./team-screen.tsx')).TeamScreen },
  {
    path: 'settings',
    menu: 'settings',
    needs: 'settings',
    load: async () => (await import('./settings-screen.tsx')).SettingsScreen,
  },
  { path: 'audit', menu: 'audit', needs: 'audit', load: async () => (await import('./audit-screen.tsx')).AuditScreen },
]
