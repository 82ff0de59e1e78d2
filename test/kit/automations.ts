/** Automations in tests: sources that report, and the runs that come of it. */
import type { Tenant } from '../../src/contract/caller.ts'
import { insertRuns, type NewRun } from '../../src/features/integrations/runs/store.ts'
import type { TestAccount, World } from './world.ts'

export interface MadeAutomation {
  readonly id: string
  readonly source_id: string
  readonly channel_type: string
}

const tenantOf = ({ id, mode }: TestAccount): Tenant => ({ account_id: id as Tenant['account_id'], mode })

/** A source of this account. */
export async function sourceOf({ api }: TestAccount, external_id = 'shop.example.com'): Promise<string> {
  const { status, body } = await api.post('/v1/integration_sources', { platform: 'custom', external_id })
  if (status >= 300) throw new Error(`the source was not made: ${JSON.stringify(body)}`)
  return body.id
}

/** An automation of this source, about `order.paid` at once. */
export async function automationOf(
  world: World,
  account: TestAccount,
  source_id: string,
  {
    channel = 'ch_test_sms',
    message = { type: 'text', text: { body: 'Thank you.' } },
    merge_fallbacks = {},
    category = 'transactional',
  }: { readonly channel?: string; readonly message?: object; readonly merge_fallbacks?: object; readonly category?: string } = {},
): Promise<MadeAutomation> {
  const id = world.platform.ids('aut')
  const { account_id, mode } = tenantOf(account)
  const { type } = (await account.api.get(`/v1/channels/${channel}`)).body
  await world.pool`
    insert into automations (account_id, mode, id, source_id, name, event_type, status, delay_seconds, cancel_on, channel_id, channel_type, category, message, merge_fallbacks, created_at, updated_at)
    values (${account_id}, ${mode}, ${id}, ${source_id}, 'Thanks', 'order.paid', 'active', 0, '{}', ${channel}, ${type}, ${category}, ${JSON.stringify(message)}::text::json,
      ${JSON.stringify(merge_fallbacks)}::text::json, ${world.clock.iso()}, ${world.clock.iso()})`
  return { id, source_id, channel_type: type }
}

export interface Happened {
  readonly to: string | null
  readonly customer?: object
  readonly data?: object
  readonly contact_id?: string
  /** From now, in milliseconds. */
  readonly delay_ms?: number
}

/** Events of this automation's source, with a run each; resolves to the ids of the runs. */
export async function happened(
  world: World,
  account: TestAccount,
  { id: automation_id, source_id, channel_type }: MadeAutomation,
  events: readonly Happened[],
): Promise<string[]> {
  const tenant = tenantOf(account)
  const at = world.clock.iso()
  const rows = events.map(({ customer = {}, data = {} }, n) => ({ id: world.platform.ids('aev'), n, customer, data }))
  await world.pool`
    insert into automation_events (account_id, mode, id, source_id, type, event_id, origin, status, customer, consent, data, occurred_at, created_at)
    select ${tenant.account_id}, ${tenant.mode}, id, ${source_id}, 'order.paid', id, 'api', 'accepted', customer, '{}', data, ${at}, ${at}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as t(id text, customer json, data json)`
  const runs = events.map(({ to, contact_id = null, delay_ms = 0 }, n): NewRun => ({
    ...tenant,
    id: world.platform.ids('run'),
    source_id,
    automation_id,
    automation_event_id: rows[n]!.id,
    contact_id,
    customer_keys: [],
    channel_type,
    to,
    status: 'scheduled',
    reason: null,
    scheduled_for: new Date(world.clock.now() + delay_ms).toISOString(),
    cancel_on: [],
    event_type: 'order.paid',
    created_at: at,
  }))
  await insertRuns(world.pool, runs)
  return runs.map(({ id }) => id)
}
