/** The message list: the right messages in order, at a constant cost per page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idFloor } from '../../lib/ids.ts'
import { isoTime } from '../../lib/clock.ts'
import { maintainPartitions } from '../../platform/database/partitions.ts'
import { jsonRows, type Pool } from '../../platform/database/sql.ts'
import { explaining, readsWholly } from '../../../test/support/plans.ts'
import { until } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { aggregateStatusCounts, listMessages, type MessageFilters } from './list-repository.ts'

const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const
const startMs = Date.parse('2026-01-01T00:00:00.000Z')

/** Few enough that a statement ends in time on a busy machine. */
const atOnce = 3_000

interface Seed {
  id: string
  channel_id: string
  direction: 'outbound' | 'inbound'
  status: string
  to: string
  reference: string | null
  created_at: string
  updated_at: string
}

async function insert(pool: Pool, account_id: string, seeds: readonly Seed[]): Promise<void> {
  for (let at = 0; at < seeds.length; at += atOnce) await insertPiece(pool, account_id, seeds.slice(at, at + atOnce))
}

async function insertPiece(pool: Pool, account_id: string, seeds: readonly Seed[]): Promise<void> {
  await pool`
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, reference, metadata, billing_source, amount_micros, origin_type, created_at, updated_at)
    select ${account_id}, ${tenant.mode}, id, channel_id, 'sms', direction, "to", '+12025550100', 'text', '{"body":"Hello"}', status, reference, '{}', 'wallet', 5000, 'api', created_at, updated_at
    from json_to_recordset(${jsonRows(seeds)}::text::json) as t(id text, channel_id text, direction text, status text, "to" text, reference text, created_at timestamptz, updated_at timestamptz)
    order by id`
}

/** The `n`-th message of a series, `step_ms` apart. */
const seed = (n: number, step_ms: number, more: Partial<Seed> = {}): Seed => {
  const at = startMs + n * step_ms
  return {
    id: `${idFloor('msg', at).slice(0, 20)}${String(n).padStart(10, '0')}`,
    channel_id: 'ch_1',
    direction: 'outbound',
    status: 'delivered',
    to: '+12025550101',
    reference: null,
    created_at: isoTime(at),
    updated_at: isoTime(at + 2000),
    ...more,
  }
}

test('every combination of filters lists the same messages as a full scan, page by page', async (t) => {
  const { pool, random } = await startPlatform(t)
  const pick = <T>(of: readonly T[]): T => of[random.below(of.length)]!
  const seeds = Array.from({ length: 600 }, (_, n) => {
    const inbound = random.below(5) === 0
    return seed(n, 300, {
      channel_id: pick(['ch_1', 'ch_1', 'ch_2', 'ch_3']),
      direction: inbound ? 'inbound' : 'outbound',
      status: inbound ? 'received' : pick(['queued', 'sent', 'delivered', 'delivered', 'read', 'failed']),
      to: pick(['+12025550101', '+12025550102']),
      reference: pick([null, 'a', 'b']),
      updated_at: isoTime(startMs + n * 300 + pick([0, 2000, 200_000])),
    })
  })
  await insert(pool, tenant.account_id, seeds)
  await insert(pool, 'acc_01kg9p6je0e6z9vsnhtbf6dxxx', seeds)
  const moment = () => isoTime(startMs + random.below(600) * 300)

  for (let round = 0; round < 300; round++) {
    const maybe = <T>(value: T): T | undefined => (random.below(4) === 0 ? value : undefined)
    const filters = withoutUndefined({
      channel: maybe(pick(['ch_1', 'ch_2', 'ch_404'])),
      direction: maybe(pick(['outbound', 'inbound'])),
      status: maybe(pick(['queued', 'sent', 'delivered', 'read', 'failed', 'received'])),
      to: maybe('+12025550102'),
      reference: maybe('a'),
      created_after: maybe(moment()),
      created_before: maybe(moment()),
      updated_after: maybe(moment()),
    })
    if (round % 50 === 49) await aggregateStatusCounts(pool, 1000)
    const starting_after = maybe(pick(seeds).id)
    const expected = seeds
      .filter((row) => fits(row, filters) && (starting_after === undefined || row.id < starting_after))
      .map(({ id }) => id)
      .toReversed()

    const found = (await listMessages(pool, tenant, filters, { limit: 10, starting_after })).map(({ id }) => id)

    assert.deepEqual(found, expected.slice(0, 11), JSON.stringify({ filters, starting_after }))
  }
})

test('status counts follow every change, folded or not', async (t) => {
  const { pool } = await startPlatform(t)
  await insert(
    pool,
    tenant.account_id,
    Array.from({ length: 50 }, (_, n) => seed(n, 100, { status: 'queued' })),
  )
  const listed = async (status: string) =>
    (await listMessages(pool, tenant, { status }, { limit: 100, starting_after: undefined })).length

  await pool`update messages set status = 'sent' where account_id = ${tenant.account_id} and mode = ${tenant.mode}`
  await pool`update messages set status = 'failed' where account_id = ${tenant.account_id} and mode = ${tenant.mode} and id = ${seed(7, 100).id}`

  assert.deepEqual([await listed('queued'), await listed('sent'), await listed('failed')], [0, 49, 1])
  await until(
    'every count to be folded',
    () => aggregateStatusCounts(pool, 3),
    (folded) => folded === 0,
  )
  assert.deepEqual([await listed('queued'), await listed('sent'), await listed('failed')], [0, 49, 1])
  const rows = await pool<
    { status: string; n: number }[]
  >`select status, sum(n) as n, bool_and(folded) as folded from message_status_counts group by status order by status`
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { status: 'failed', n: 1, folded: true },
      { status: 'sent', n: 49, folded: true },
    ],
  )
})

const many = 30_000
/** Far fewer messages than exist, and more than any filter needs. */
const readMax = 8000

test('every filter reads its page through an index, even if matches are old or missing', async (t) => {
  const world = await startPlatform(t)
  await maintainPartitions(
    world.pool,
    { table: 'messages', prefix: 'msg', every: 'month', fillfactor: 50 },
    startMs,
    null,
  )
  await insert(
    world.pool,
    tenant.account_id,
    Array.from({ length: many }, (_, n) =>
      seed(
        n,
        50,
        n < 5
          ? {
              channel_id: 'ch_rare',
              to: '+12025550199',
              reference: 'rare',
              status: n < 3 ? 'failed' : 'read',
              updated_at: isoTime(startMs + many * 60),
            }
          : n < 10
            ? { direction: 'inbound', status: 'received' }
            : {},
      ),
    ),
  )
  await world.pool`vacuum analyze messages`
  const filters: readonly MessageFilters[] = [
    {},
    { channel: 'ch_rare' },
    { channel: 'ch_1' },
    { direction: 'inbound' },
    { direction: 'outbound' },
    { status: 'failed' },
    { status: 'read' },
    { status: 'queued' },
    { status: 'delivered' },
    { status: 'received' },
    { to: '+12025550199' },
    { to: '+12025550101' },
    { reference: 'rare' },
    { channel: 'ch_1', direction: 'inbound' },
    { channel: 'ch_1', status: 'failed' },
    { created_before: isoTime(startMs + 2000) },
    { created_after: isoTime(startMs + many * 50) },
    { updated_after: isoTime(startMs + many * 50 + 5000) },
    { updated_after: isoTime(startMs) },
  ]
  const explain = explaining(t, world.database_url)
  for (const filter of filters) {
    const plans = await explain((sql) => listMessages(sql, tenant, filter, { limit: 20, starting_after: undefined }))

    assert.ok(!readsWholly(plans, 'messages'), `${JSON.stringify(filter)} reads every message`)
    assert.ok(plans.read <= readMax, `${JSON.stringify(filter)} reads ${plans.read} rows`)
  }
})

function fits(row: Seed, filters: MessageFilters): boolean {
  const { channel, direction, status, to, reference, created_after, created_before, updated_after } = filters
  return (
    (channel === undefined || row.channel_id === channel) &&
    (direction === undefined || row.direction === direction) &&
    (status === undefined || row.status === status) &&
    (to === undefined || row.to === to) &&
    (reference === undefined || row.reference === reference) &&
    (created_after === undefined || row.created_at > created_after) &&
    (created_before === undefined || row.created_at < created_before) &&
    (updated_after === undefined || row.updated_at > updated_after)
  )
}

const withoutUndefined = (filters: Record<string, string | undefined>): MessageFilters =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
