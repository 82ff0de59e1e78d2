/** Writing transitions: all of a step or nothing, by primary key. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from '../../platform/database/sql.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { startPlatform, type PlatformWorld } from '../../../test/support/world.ts'
import { projectionsOf } from './projections.ts'
import { writeAcceptances, writeTransitions, type Acceptance } from './transitions-repository.ts'

const tenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'live' } as const
const nobody = projectionsOf({ notify: () => undefined, clock: fakeClock() }, [])
const at = '2026-01-01T00:00:00.000Z'

/** Messages that are being sent, each with its job. */
async function sending({ pool, platform }: PlatformWorld, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => platform.ids('msg'))
  await pool`
    insert into messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, metadata, billing_source, amount_micros, origin_type, created_at, updated_at)
    select ${tenant.account_id}, ${tenant.mode}, id, 'ch_1', 'sms', 'outbound', '+1202555' || n, '+12025550100', 'text', '{"body":"Hello"}', 'sending', '{}', 'wallet', 5000, 'api', ${at}, ${at}
    from unnest(${ids}::text[]) with ordinality as t(id, n)`
  await pool`
    insert into dispatch_jobs (account_id, mode, message_id, channel_id, queue, priority, next_run_at)
    select ${tenant.account_id}, ${tenant.mode}, id, 'ch_1', 'queue', 1, ${at} from unnest(${ids}::text[]) as t(id)`
  return ids
}

const acceptance = ({ platform: { ids } }: PlatformWorld, id: string): Acceptance => ({
  ...tenant,
  id,
  origin_type: 'api',
  from_status: 'sending',
  status: 'sent',
  at: '2026-01-01T00:00:01.000Z',
  sending_at: '2026-01-01T00:00:01.000Z',
  error: null,
  event: { id: ids('evt'), mode: 'live', type: 'message.sent', created_at: at, object: `{"id":"${id}"}` },
  provider: 'simulator',
  // provider ids may contain any character
  provider_id: `line\nbreak "${id}"`,
  attempt_id: ids('att'),
  number: 1,
  duration_ms: 5,
  item: {
    id: ids('req'),
    item: { kind: 'delivery_receipt', provider_id: 'p', transition: 'deliver' },
    next_run_at: at,
  },
})

const traces = async (pool: Pool, id: string): Promise<Record<string, number>> => {
  const [row] = await pool<Record<string, number>[]>`
    select (select count(*) from events where object_id = ${id}) as events, (select count(*) from provider_references where message_id = ${id}) as "references",
      (select count(*) from message_attempts where message_id = ${id}) as attempts, (select count(*) from callback_items where provider_id = ${`line\nbreak "${id}"`} or item ->> 'provider_id' = 'p') as reports,
      (select count(*) from dispatch_jobs where message_id = ${id}) as jobs`
  return row!
}

test('an acceptance writes status, event, reference, attempt and callback item, and ends the job', async (t) => {
  const world = await startPlatform(t)
  const [id] = (await sending(world, 1)) as [string]

  assert.deepEqual([...(await writeAcceptances(world.pool, nobody, [acceptance(world, id)]))], [id])

  assert.deepEqual(await traces(world.pool, id), { events: 1, references: 1, attempts: 1, reports: 1, jobs: 0 })
  const [row] = await world.pool`
    select m.status, m.sending_at, m.sent_at, m.delivered_at, m.updated_at, r.provider_id from messages m join provider_references r on r.message_id = m.id where m.id = ${id}`
  const sent = '2026-01-01T00:00:01.000Z'
  assert.deepEqual(
    { ...row },
    {
      status: 'sent',
      sending_at: sent,
      sent_at: sent,
      delivered_at: null,
      updated_at: sent,
      provider_id: `line\nbreak "${id}"`,
    },
  )
})

test('an acceptance of a message that has changed meanwhile writes nothing, and the others are written', async (t) => {
  const world = await startPlatform(t)
  const [gone, here] = (await sending(world, 2)) as [string, string]
  await world.pool`update messages set status = 'delivered' where id = ${gone}`

  assert.deepEqual(
    [...(await writeAcceptances(world.pool, nobody, [acceptance(world, gone), acceptance(world, here)]))],
    [here],
  )

  const nothing = { events: 0, references: 0, attempts: 0, jobs: 1 }
  assert.deepEqual({ ...(await traces(world.pool, gone)), reports: undefined }, { ...nothing, reports: undefined })
  assert.deepEqual(await traces(world.pool, here), { events: 1, references: 1, attempts: 1, reports: 1, jobs: 0 })
})

test('a message is found by its primary key, even before the table has statistics', async (t) => {
  const world = await startPlatform(t)
  const ids = await sending(world, 3000)
  const connection = await world.pool.reserve()
  t.after(() => connection.release())

  const { item: _report, ...write } = acceptance(world, ids[0]!)
  for (const id of ids.slice(0, 10)) await writeTransitions(connection, nobody, [{ ...write, id, event: null }])

  await connection`select pg_stat_force_next_flush()`
  const used = await connection<{ name: string }[]>`
    select indexrelname as name from pg_stat_user_indexes where relname like 'messages%' and relname not like 'message_s%' and idx_scan > 0`
  assert.equal(used.length > 0 && used.every(({ name }) => name.endsWith('_pkey')), true, JSON.stringify(used))
})
