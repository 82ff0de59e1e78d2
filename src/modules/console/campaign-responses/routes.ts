/** What recipients of a campaign answered (behaviour: console 7.7). */
import { CampaignResponses } from '../../../api/resources/campaign-responses.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute } from '../console-route.ts'
import type { ConsoleServices } from '../console-services.ts'

export const responseRoutes = ({ platform, campaigns }: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    operation: 'campaign_responses.retrieve',
    method: 'GET',
    path: '/console/api/campaigns/{id}/responses',
    access: 'account',
    moded: true,
    scope: 'campaigns:read',
    summary: 'Count who answered a campaign',
    description:
      'And who opted out by that. Answers are what recipients wrote on its channel within seven days of their message.',
    replies: { 200: CampaignResponses },
    errors: ['resource_missing'],
    async handler({ caller, params, signal }) {
      const asked = { account_id: caller.account_id, gone: signal, narrow: 'Ask again in a minute.' }
      return reply(200, await platform.reads.run(asked, (sql) => campaigns.responses(sql, caller, params['id']!)))
    },
  }),
]
