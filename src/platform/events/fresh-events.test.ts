/** Events kept in memory for whoever delivers them: only those that somebody asks for, and bounded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventRow } from './outbox.ts'
import { freshEvents } from './fresh-events.ts'

const event = (id: string, type: EventRow['type'], object = '{}'): EventRow => ({
  id,
  mode: 'live',
  type,
  created_at: '2026-01-31T09:30:00.000Z',
  object,
})

test('events of a type are kept once somebody has asked for one, and given once', () => {
  const fresh = freshEvents()
  fresh.add(event('evt_1', 'message.sent'))
  const unasked = fresh.take('evt_1', 'message.sent')

  fresh.add(event('evt_2', 'message.sent'))
  fresh.add(event('evt_3', 'message.delivered'))

  assert.equal(unasked, undefined)
  assert.deepEqual(
    [
      fresh.take('evt_2', 'message.sent')?.id,
      fresh.take('evt_2', 'message.sent'),
      fresh.take('evt_3', 'message.delivered'),
    ],
    ['evt_2', undefined, undefined],
  )
})

test('a type that nobody asks for any more is forgotten, and kept again when somebody does', () => {
  const fresh = freshEvents()
  fresh.take('evt_x', 'message.sent')
  for (let i = 0; i < 6_000; i++) fresh.add(event(`evt_${i}`, 'message.sent'))
  const last = fresh.take('evt_5999', 'message.sent')
  fresh.add(event('evt_later', 'message.sent'))

  assert.equal(last, undefined)
  assert.equal(fresh.take('evt_later', 'message.sent')?.id, 'evt_later')
})

test('large objects push out older ones by their size', () => {
  const fresh = freshEvents()
  fresh.take('evt_x', 'message.sent')
  for (let i = 0; i < 3; i++) fresh.add(event(`evt_${i}`, 'message.sent', 'x'.repeat(6_000_000)))

  assert.deepEqual(
    [0, 1, 2].map((i) => fresh.take(`evt_${i}`, 'message.sent')?.id),
    [undefined, 'evt_1', 'evt_2'],
  )
})
