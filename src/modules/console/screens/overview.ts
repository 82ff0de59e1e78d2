/** Figures of the home page and of a campaign. */
import type { Caller } from '../../../api/caller.ts'
import { CampaignResponses } from '../../../api/resources/campaign-responses.ts'
import { type AttentionType, Overview } from '../../../api/resources/overview.ts'
import type { Scope } from '../../../api/scopes.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import { reply } from '../../../platform/http/route.ts'
import { consoleRoute, type ConsoleRoute, type ConsoleServices } from '../route.ts'

const daysShown = 30
/** The most objects of each kind that are checked. */
const firstPage = { limit: 100, starting_after: undefined }

interface Matter {
  readonly type: AttentionType
  readonly id: string
}

/** (behaviour: console 7.1) */
async function overviewOf(services: ConsoleServices, sql: Db, caller: Caller): Promise<Overview> {
  const timezone = await services.accounts.timezoneOf(sql, caller.account_id)
  const days = await services.messages.days(sql, caller, timezone, daysShown)
  const sum = (name: 'sent' | 'delivered' | 'failed') => days.reduce((all, { [name]: n }) => all + n, 0)
  const needs_attention: Matter[] = []
  for (const { scope, find } of problemKinds)
    if (caller.scopes.includes(scope)) needs_attention.push(...(await find(services, sql, caller)))
  return {
    object: 'overview',
    sent: sum('sent'),
    delivered: sum('delivered'),
    failed: sum('failed'),
    days: [...days],
    needs_attention,
  }
}

const problemKinds: readonly {
  readonly scope: Scope
  readonly find: (services: ConsoleServices, sql: Db, caller: Caller) => Promise<Matter[]>
}[] = [
  {
    scope: 'channels:read',
    async find({ channels }, sql, caller) {
      return (await channels.list(sql, caller, firstPage)).flatMap(({ id, status, connection_status }): Matter[] => {
        if (status === 'suspended') return [{ type: 'channel_suspended', id }]
        return status === 'active' && connection_status === 'disconnected' ? [{ type: 'channel_disconnected', id }] : []
      })
    },
  },
  {
    scope: 'webhooks:read',
    async find({ webhooks }, sql, caller) {
      const all = await webhooks.endpoints.list(sql, caller, firstPage)
      return all
        .filter(({ status }) => status === 'disabled')
        .map(({ id }) => ({ type: 'webhook_endpoint_disabled', id }))
    },
  },
  {
    scope: 'campaigns:read',
    async find({ campaigns, platform }, sql, caller) {
      const paused = await campaigns.list(sql, caller, 'paused', firstPage)
      const failed = await campaigns.list(sql, caller, 'failed', firstPage)
      const since = isoTime(platform.clock.now() - daysShown * 86_400_000)
      return [
        ...paused
          .filter(({ pause_reason }) => pause_reason !== 'user')
          .map(({ id }): Matter => ({ type: 'campaign_paused', id })),
        ...failed
          .filter(({ launched_at }) => (launched_at ?? '') > since)
          .map(({ id }): Matter => ({ type: 'campaign_failed', id })),
      ]
    },
  },
  {
    scope: 'billing:read',
    find: async ({ billing }, sql, caller) =>
      (await billing.isLow(sql, caller)) ? [{ type: 'balance_low', id: caller.account_id }] : [],
  },
]

export const overviewRoutes = (services: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    operation: 'overview.retrieve',
    method: 'GET',
    path: '/console/api/overview',
    access: 'account',
    moded: true,
    scope: null,
    summary: 'Look at the last 30 days',
    description: "Messages per day in the account's time zone, and problems that need attention.",
    replies: { 200: Overview },
    errors: [],
    handler: async ({ caller, sql }) => reply(200, await overviewOf(services, sql, caller)),
  }),
]

/** (behaviour: console 7.7) */
export const responseRoutes = ({ platform, campaigns }: ConsoleServices): ConsoleRoute[] => [
  consoleRoute({
    operation: 'campaign_responses.retrieve',
    method: 'GET',
    path: '/console/api/campaigns/{id}/responses',
    access: 'account',
    moded: true,
    scope: 'campaigns:read',
    summary: 'Count the replies to a campaign',
    description:
      'Also counts opt-outs by reply. Replies are messages of recipients on its channel within seven days of their message.',
    replies: { 200: CampaignResponses },
    errors: ['resource_missing'],
    async handler({ caller, params, signal }) {
      const request = { account_id: caller.account_id, gone: signal, narrow: 'Ask again in a minute.' }
      return reply(200, await platform.reads.run(request, (sql) => campaigns.responses(sql, caller, params['id']!)))
    },
  }),
]
