/** Webhook endpoints and what was delivered to them. */
import type { ScreenRoute } from '../../frame/screen-route.ts'

export const webhookScreens: readonly ScreenRoute[] = [
  {
    path: 'webhooks',
    needs: 'webhooks:read',
    menu: 'webhooks',
    load: async () => (await import('./webhooks-screen.tsx')).WebhooksScreen,
  },
  {
    path: 'webhooks/$id',
    needs: 'webhooks:read',
    load: async () => (await import('./endpoint-screen.tsx')).EndpointScreen,
  },
]
