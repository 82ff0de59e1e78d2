import assert from 'node:assert/strict'
import { once } from 'node:events'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import { closing } from '../../../test/kit/closing.ts'
import { startPlatform } from '../../../test/kit/world.ts'
import { isoText, listen } from './pool.ts'

test('values travel as the interface writes them', async (t) => {
  const { pool } = await startPlatform(t)

  const [row] = await pool`
    select 9007199254740991::bigint as big, '2026-01-31 10:30:00.1239+01'::timestamptz as at, array['2026-01-31 09:30Z']::timestamptz[] as times,
      ${'2026-01-31T09:30:00.000Z'}::timestamptz as back, '2026-01-31'::date as day, '{"a": [1]}'::json as tree, null::timestamptz as none`

  assert.deepEqual({ ...row }, {
    big: 9007199254740991, at: '2026-01-31T09:30:00.123Z', times: ['2026-01-31T09:30:00.000Z'], back: '2026-01-31T09:30:00.000Z',
    day: '2026-01-31', tree: { a: [1] }, none: null,
  })
})

test('a time keeps milliseconds and Z, whatever PostgreSQL leaves out', () => {
  assert.equal(isoText('2026-01-31 09:30:00+00'), '2026-01-31T09:30:00.000Z')
  assert.equal(isoText('2026-01-31 09:30:00.5+00'), '2026-01-31T09:30:00.500Z')
  assert.equal(isoText('2026-01-31 09:30:00.123456+00'), '2026-01-31T09:30:00.123Z')
  assert.equal(isoText('infinity'), 'infinity')
})

test('a listener hears again after its connection was lost, and is told that it may have missed something', async (t) => {
  const { pool } = await startPlatform(t)
  const heard = new EventEmitter()
  let missed = 0
  const listening = await listen(pool, 'bell', (payload) => heard.emit('bell', payload), () => {
    missed += 1
    heard.emit('missed')
  })
  closing(t, () => listening.stop())

  const first = once(heard, 'bell')
  await pool`select pg_notify('bell', 'one')`
  const lost = once(heard, 'missed').then(() => once(heard, 'missed'))
  assert.deepEqual(await first, ['one'])
  await pool`select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()`
  await lost
  const second = once(heard, 'bell')
  await pool`select pg_notify('bell', 'two')`

  assert.deepEqual(await second, ['two'])
  assert.equal(missed, 2)
})
