/** Rows for projections, and the limits of a batch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPlatform } from '../../../test/support/world.ts'
import { dequeueTransitions, transitionsFrom, type TransitionRow } from './projections-repository.ts'

const account_id = 'acc_01kg9p6je0e6z9vsnhtbf6d24v'
const pairs = [
  { projection: 'first', origin_type: 'campaign' },
  { projection: 'second', origin_type: 'campaign' },
  { projection: 'first', origin_type: 'api' },
] as const

test('messages of one origin that take the same step share a row per projection, with their keys and times', async (t) => {
  const { pool } = await startPlatform(t)
  await pool`${transitionsFrom(
    pool,
    pairs,
    pool`select * from (values
      (${account_id}, 'live', 'msg_1', 'cmp_1/1', 'campaign', 'cmp_1', 'sending', 'sent', '2026-01-01T00:00:01Z'::timestamptz),
      (${account_id}, 'live', 'msg_2', null, 'campaign', 'cmp_1', 'sending', 'sent', '2026-01-01T00:00:02.12Z'),
      (${account_id}, 'live', 'msg_3', 'NULL', 'campaign', 'cmp_1', 'sending', 'sent', '2026-01-01T00:00:03Z'),
      (${account_id}, 'live', 'msg_4', null, 'campaign', 'cmp_2', null, 'queued', '2026-01-01T00:00:04Z'),
      (${account_id}, 'live', 'msg_5', null, 'inbound', null, null, 'queued', '2026-01-01T00:00:05Z')
    ) v(account_id, mode, message_id, submission_key, origin_type, origin_id, from_status, status, at)`,
  )}`

  const [count] = await pool`select count(*)::int as rows from message_transitions`
  const first = await dequeueTransitions(pool, 'first', { rows_max: 10, messages_max: 10 })
  const again = await dequeueTransitions(pool, 'first', { rows_max: 10, messages_max: 10 })
  const second = await dequeueTransitions(pool, 'second', { rows_max: 10, messages_max: 10 })

  const byOrigin = (one: TransitionRow, other: TransitionRow) => (one.origin_id! < other.origin_id! ? -1 : 1)
  const origin = { account_id, mode: 'live', origin_type: 'campaign' }
  assert.equal(count!['rows'], 4)
  assert.deepEqual(first.toSorted(byOrigin), [
    {
      ...origin,
      origin_id: 'cmp_1',
      from_status: 'sending',
      status: 'sent',
      message_ids: ['msg_1', 'msg_2', 'msg_3'],
      submission_keys: ['cmp_1/1', null, 'NULL'],
      times: ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.120Z', '2026-01-01T00:00:03.000Z'],
    },
    {
      ...origin,
      origin_id: 'cmp_2',
      from_status: null,
      status: 'queued',
      message_ids: ['msg_4'],
      submission_keys: [null],
      times: ['2026-01-01T00:00:04.000Z'],
    },
  ])
  assert.deepEqual([again, second.toSorted(byOrigin)], [[], first.toSorted(byOrigin)])
})

test('a fold stops at its limit of messages, and the next one reads the rest', async (t) => {
  const { pool } = await startPlatform(t)
  for (const origin_id of ['cmp_1', 'cmp_2', 'cmp_3'])
    await pool`${transitionsFrom(
      pool,
      pairs,
      pool`select ${account_id}::text as account_id, 'test' as mode, ${origin_id} || n as message_id, null::text as submission_key, 'api' as origin_type, ${origin_id}::text as origin_id,
        null::text as from_status, 'queued' as status, '2026-01-01T00:00:00Z'::timestamptz as at from generate_series(1, 4) n`,
    )}`
  const take = async (bounds: { rows_max: number; messages_max: number }) =>
    (await dequeueTransitions(pool, 'first', bounds)).flatMap(({ message_ids }) => message_ids).length

  assert.deepEqual(
    [
      await take({ rows_max: 10, messages_max: 5 }),
      await take({ rows_max: 1, messages_max: 5 }),
      await take({ rows_max: 1, messages_max: 5 }),
    ],
    [8, 4, 0],
  )
})
