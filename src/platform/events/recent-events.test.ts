/** Recent events are stored for types in use, within limits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventRow } from './outbox.ts'
import { recentEvents } from './recent-events.ts'

const event = (id: string, type: EventRow['type'], object = '{}'): EventRow => ({
  id,
  mode: 'live',
  type,
  created_at: '2026-01-31T09:30:00.000Z',
  object,
})

test('events of a type are stored after the first request for one, and returned once', () => {
  const recent = recentEvents()
  recent.add(event('evt_1', 'message.sent'))
  const before = recent.take('evt_1', 'message.sent')

  recent.add(event('evt_2', 'message.sent'))
  recent.add(event('evt_3', 'message.delivered'))

  assert.equal(before, undefined)
  assert.deepEqual(
    [
      recent.take('evt_2', 'message.sent')?.id,
      recent.take('evt_2', 'message.sent'),
      recent.take('evt_3', 'message.delivered'),
    ],
    ['evt_2', undefined, undefined],
  )
})

test('events of a type that is no longer requested are dropped, and stored again after the next request', () => {
  const recent = recentEvents()
  recent.take('evt_x', 'message.sent')
  for (let i = 0; i < 6_000; i++) recent.add(event(`evt_${i}`, 'message.sent'))
  const last = recent.take('evt_5999', 'message.sent')
  recent.add(event('evt_later', 'message.sent'))

  assert.equal(last, undefined)
  assert.equal(recent.take('evt_later', 'message.sent')?.id, 'evt_later')
})

test('large objects evict older ones by their size', () => {
  const recent = recentEvents()
  recent.take('evt_x', 'message.sent')
  for (let i = 0; i < 3; i++) recent.add(event(`evt_${i}`, 'message.sent', 'x'.repeat(6_000_000)))

  assert.deepEqual(
    [0, 1, 2].map((i) => recent.take(`evt_${i}`, 'message.sent')?.id),
    [undefined, 'evt_1', 'evt_2'],
  )
})
