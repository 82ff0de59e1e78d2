/** Helpers for automations and their sources. */
import type { Tenant } from '../../src/api/caller.ts'
import { isoTime } from '../../src/lib/clock.ts'
import { insertRuns } from '../../src/modules/automations/runs/repository.ts'
import type { NewRun } from '../../src/modules/automations/runs/run.ts'
import type { Platform } from '../../src/platform/platform.ts'
import type { TestAccount } from './world.ts'

type Parts = Pick<Platform, 'pool' | 'ids' | 'clock'>
export type Reporter = Pick<TestAccount, 'id' | 'mode' | 'api'>

export interface MadeAutomation {
  readonly id: string
  readonly source_id: string
  readonly channel_type: string
}

const tenantOf = ({ id, mode }: Reporter): Tenant => ({ account_id: id as Tenant['account_id'], mode })

export async function sourceOf({ api }: Reporter, external_id = 'shop.example.com'): Promise<string> {
  const { status, body } = await api.post('/v1/integration_sources', { platform: 'custom', external_id })
  if (status >= 300) throw new Error(`the source was not made: ${JSON.stringify(body)}`)
  return body.id
}

export async function automationOf({ api }: Reporter, source_id: string, more: object = {}): Promise<MadeAutomation> {
  const { status, body } = await api.post('/v1/automations', {
    name: 'Thanks',
    source_id,
    event_type: 'order.paid',
    channel_id: 'ch_test_sms',
    message: { type: 'text', text: { body: 'Thank you.' } },
    ...more,
  })
  if (status !== 201) throw new Error(`the automation was not made: ${JSON.stringify(body)}`)
  const channel = (await api.get(`/v1/channels/${body.channel_id}`)).body
  return { id: body.id, source_id, channel_type: channel.type }
}

export interface Happened {
  readonly to: string | null
  readonly customer?: object
  readonly data?: object
  readonly contact_id?: string
  readonly delay_ms?: number
}

/** Reports events and resolves to the ids of their runs, one per event. */
export async function happened(
  { pool, ids, clock }: Parts,
  account: Reporter,
  { id: automation_id, source_id, channel_type }: MadeAutomation,
  events: readonly Happened[],
): Promise<string[]> {
  const tenant = tenantOf(account)
  const at = isoTime(clock.now())
  const rows = events.map(({ customer = {}, data = {} }, n) => ({ id: ids('aev'), n, customer, data }))
  await pool`
    insert into automation_events (account_id, mode, id, source_id, type, event_id, origin, status, customer, consent, data, occurred_at, created_at)
    select ${tenant.account_id}, ${tenant.mode}, id, ${source_id}, 'order.paid', id, 'api', 'accepted', customer, '{}', data, ${at}, ${at}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as t(id text, customer json, data json)`
  const runs = events.map(({ to, contact_id = null, delay_ms = 0 }, n): NewRun => ({
    ...tenant,
    id: ids('run'),
    source_id,
    automation_id,
    automation_event_id: rows[n]!.id,
    contact_id,
    customer_keys: [],
    channel_type,
    to,
    status: 'scheduled',
    reason: null,
    scheduled_for: isoTime(clock.now() + delay_ms),
    event_type: 'order.paid',
    created_at: at,
  }))
  await insertRuns(pool, runs)
  return runs.map(({ id }) => id)
}
