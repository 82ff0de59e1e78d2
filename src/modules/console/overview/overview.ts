/** How an account is doing, and what somebody should look at (behaviour: console 7.1). */
import type { Caller } from '../../../api/caller.ts'
import type { Scope } from '../../../api/scopes.ts'
import type { AttentionType, Overview } from '../../../api/resources/overview.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { ConsoleServices } from '../console-services.ts'

const daysShown = 30
/** Of each kind that is looked through. */
const looked = { limit: 100, starting_after: undefined }

interface Matter {
  readonly type: AttentionType
  readonly id: string
}

export async function overviewOf(services: ConsoleServices, sql: Db, caller: Caller): Promise<Overview> {
  const timezone = await services.accounts.timezoneOf(sql, caller.account_id)
  const days = await services.messages.days(sql, caller, timezone, daysShown)
  const sum = (name: 'sent' | 'delivered' | 'failed') => days.reduce((all, { [name]: n }) => all + n, 0)
  const needs_attention: Matter[] = []
  for (const { scope, find } of matters)
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

const matters: readonly {
  readonly scope: Scope
  readonly find: (services: ConsoleServices, sql: Db, caller: Caller) => Promise<Matter[]>
}[] = [
  {
    scope: 'channels:read',
    async find({ channels }, sql, caller) {
      return (await channels.list(sql, caller, looked)).flatMap(({ id, status, connection_status }): Matter[] => {
        if (status === 'suspended') return [{ type: 'channel_suspended', id }]
        return status === 'active' && connection_status === 'disconnected' ? [{ type: 'channel_disconnected', id }] : []
      })
    },
  },
  {
    scope: 'webhooks:read',
    async find({ webhooks }, sql, caller) {
      const all = await webhooks.endpoints.list(sql, caller, looked)
      return all
        .filter(({ status }) => status === 'disabled')
        .map(({ id }) => ({ type: 'webhook_endpoint_disabled', id }))
    },
  },
  {
    scope: 'campaigns:read',
    async find({ campaigns, platform }, sql, caller) {
      const paused = await campaigns.list(sql, caller, 'paused', looked)
      const failed = await campaigns.list(sql, caller, 'failed', looked)
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
