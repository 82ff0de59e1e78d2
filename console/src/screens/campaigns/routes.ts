/** Campaigns: the list, a new one, and each with its draft or its progress. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const campaignScreens: readonly ScreenRoute[] = [
  {
    path: 'campaigns',
    needs: 'campaigns:read',
    menu: 'campaigns',
    load: async () => (await import('./campaigns-screen.tsx')).CampaignsScreen,
  },
  {
    path: 'campaigns/new',
    needs: 'campaigns:read',
    load: async () => (await import('./new-campaign-screen.tsx')).NewCampaignScreen,
  },
  {
    path: 'campaigns/$id',
    needs: 'campaigns:read',
    load: async () => (await import('./campaign-screen.tsx')).CampaignScreen,
  },
]
