/** Automations: the list, a new one, and each. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const automationScreens: readonly ScreenRoute[] = [
  {
    path: 'automations',
    needs: 'integrations:read',
    menu: 'automations',
    load: async () => (await import('./automations-screen.tsx')).AutomationsScreen,
  },
  {
    path: 'automations/new',
    needs: 'integrations:read',
    load: async () => (await import('./automation-screen.tsx')).NewAutomationScreen,
  },
  {
    path: 'automations/$id',
    needs: 'integrations:read',
    load: async () => (await import('./automation-screen.tsx')).AutomationScreen,
  },
]
