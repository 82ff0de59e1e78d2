/** Matching of events, compared with an SQL implementation. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { EndpointFilters } from '../../../api/resources/webhook-endpoint.ts'
import { seeded } from '../../../../test/support/random.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import {
  passesFilters,
  deliveryId,
  kindOf,
  makeDeliveries,
  type FeedEvent,
  type Subscription,
  isLater,
} from './matching.ts'

/** The filters as an SQL function. */
const filtersInSql = `
create function filters_pass(filters jsonb, event_type text, object json) returns boolean language sql immutable
  return case split_part(event_type, '.', 1)
    when 'message' then
      (not filters ? 'channels' or filters -> 'channels' ? (object ->> 'channel_id'))
      and (not filters ? 'channel_types' or filters -> 'channel_types' ? (object ->> 'channel_type'))
      and (not filters ? 'directions' or filters -> 'directions' ? (object ->> 'direction'))
      and (not filters ? 'message_types' or filters -> 'message_types' ? (object ->> 'type'))
      and (not filters ? 'campaigns'
        or (object #>> '{origin,type}' is not distinct from 'campaign' and coalesce(filters -> 'campaigns' ? (object #>> '{origin,id}'), false)))
    when 'channel' then
      (not filters ? 'channels' or filters -> 'channels' ? (object ->> 'id'))
      and (not filters ? 'channel_types' or filters -> 'channel_types' ? (object ->> 'type'))
    when 'campaign' then
      (not filters ? 'channels' or filters -> 'channels' ? (object ->> 'channel_id'))
      and (not filters ? 'channel_types' or filters -> 'channel_types' ? (object ->> 'channel_type'))
      and (not filters ? 'campaigns' or filters -> 'campaigns' ? (object ->> 'id'))
    else true
  end`

test('filters accept the same events as the SQL function', async (t) => {
  const { pool } = await startPlatform(t)
  await pool.unsafe(filtersInSql)
  const random = seeded(t.name)
  const some = <T>(values: readonly T[]): T[] => values.filter(() => random.below(2) === 0)
  const keys = {
    channels: ['ch_1', 'ch_2'],
    channel_types: ['sms', 'whatsapp'],
    directions: ['outbound', 'inbound'],
    message_types: ['text', 'image'],
    campaigns: ['cmp_1', 'cmp_2'],
  }
  const types = [
    'message.sent',
    'message.received',
    'channel.connected',
    'campaign.started',
    'balance.low',
    'package.expiring',
    'webhook.test',
  ]
  const maybe = (value: unknown) => random.pick([value, value, value, null, undefined])
  const samples = Array.from({ length: 2_000 }, () => ({
    filters: Object.fromEntries(
      some(Object.entries(keys))
        .map(([key, values]) => [key, some(values)])
        .filter(([, values]) => values!.length > 0),
    ) as EndpointFilters,
    type: random.pick(types),
    object: {
      id: maybe(random.pick(['ch_1', 'cmp_1', 'x'])),
      channel_id: maybe(random.pick(['ch_1', 'ch_3'])),
      channel_type: maybe(random.pick(['sms', 'email'])),
      direction: maybe(random.pick(['outbound', 'inbound'])),
      type: maybe(random.pick(['text', 'sms', 'location'])),
      origin: maybe({ type: random.pick(['campaign', 'api']), id: maybe(random.pick(['cmp_1', 'cmp_3'])) }),
    },
  }))

  const rows = await pool<{ passes: boolean }[]>`
    select coalesce(filters_pass(s.filters, s.type, s.object), false) as passes
    from json_to_recordset(${JSON.stringify(samples)}::text::json) as s (filters jsonb, type text, object json)`

  const decided = samples.map(({ filters, type, object }) => passesFilters(filters, type, object))
  assert.deepEqual(
    decided,
    rows.map(({ passes }) => passes),
  )
  assert.ok(decided.includes(true) && decided.includes(false))
})

test('an event is later than a snapshot exactly when the snapshot does not see its transaction', async (t) => {
  const { pool } = await startPlatform(t)
  const snapshot = '1000:1010:1003,1007'
  const since = { position: String((2n << 48n) + 1010n), snapshot }
  const transactions = Array.from({ length: 20 }, (_, i) => 995 + i)
  const seen = await pool<{ xid: number; visible: boolean }[]>`
    select xid, pg_visible_in_snapshot(xid::text::xid8, ${snapshot}::text::pg_snapshot) as visible from unnest(${transactions}::bigint[]) xid`

  for (const { xid, visible } of seen)
    assert.equal(isLater(String((2n << 48n) + BigInt(xid)), since), !visible, `${xid}`)
  for (const xid of transactions) {
    assert.equal(isLater(String((1n << 48n) + BigInt(xid)), since), false, 'an epoch before')
    assert.equal(isLater(String((3n << 48n) + BigInt(xid)), since), true, 'an epoch after')
  }
})

test('the id of a delivery is derived from event and endpoint and never changes', async (t) => {
  const { pool, platform } = await startPlatform(t)
  const [event_id, endpoint_id] = [platform.ids('evt'), platform.ids('we')]
  const [row] = await pool<{ id: string }[]>`
    select 'whd_' || substr(${event_id}::text, 5, 14) || substr(md5(${event_id}::text || ${endpoint_id}::text), 1, 12) as id`

  assert.equal(deliveryId(event_id, endpoint_id), row!.id)
  assert.equal(
    row!.id.slice(18),
    createHash('md5')
      .update(event_id + endpoint_id)
      .digest('hex')
      .slice(0, 12),
  )
})

function fed(n: number, more: Partial<FeedEvent> = {}): FeedEvent {
  const event = {
    account_id: 'acc_1',
    mode: 'live',
    id: `evt_${String(n).padStart(26, '0')}`,
    type: 'message.sent',
    position: '100',
    created_at: '2026-01-31 09:30:00+00',
    ...more,
  }
  return { ...event, kind: kindOf(event) }
}
const subscribed = (endpoint_id: string, more: Partial<Subscription> = {}): Subscription => ({
  endpoint_id,
  filters: null,
  position: '0',
  snapshot: '1:1:',
  version: 1,
  ...more,
})
const nothing = () => undefined

test('every subscription gets its delivery, in the order of the feed', () => {
  const events = [1, 2].map((n) => fed(n))
  const subscriptions = new Map([[kindOf(events[0]!), [subscribed('we_1'), subscribed('we_2')]]])

  const made = makeDeliveries(events, subscriptions, nothing)

  assert.deepEqual(
    made.map(({ endpoint_id, event_id }) => [endpoint_id, event_id]),
    events.flatMap(({ id }) => [
      ['we_1', id],
      ['we_2', id],
    ]),
  )
})

test('events of another account, mode or type, or from before the subscription, make no delivery', () => {
  const subscriptions = new Map([[kindOf(fed(1)), [subscribed('we_1', { position: '100', snapshot: '90:100:95' })]]])
  const others = [
    fed(1, { account_id: 'acc_2' }),
    fed(2, { mode: 'test' }),
    fed(3, { type: 'message.read' }),
    fed(4, { type: '' }),
    fed(5, { position: '94' }),
  ]

  assert.deepEqual(makeDeliveries(others, subscriptions, nothing), [])
  assert.equal(makeDeliveries([fed(6, { position: '95' })], subscriptions, nothing).length, 1)
})
