import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSession } from './endpoint-sessions.ts'
import { QueueReader, type QueueReaderDeps } from './queue-reader.ts'

test('an endpoint whose buffer runs low at the end of a read is read next', async () => {
  const session = {
    endpoint_id: 'whe_1',
    active: true,
    more: false,
    buffer: [],
    after: '',
    loaded: new Set(),
  } as unknown as EndpointSession
  const state = { readings: 0, looks: 0 }
  const again: Promise<void>[] = []
  const sessions = {
    capacity: () => 1,
    all() {
      state.looks += 1
      // runs right after the first read, which finds nothing
      if (state.looks === 1)
        queueMicrotask(() => {
          session.more = true
          again.push(reader.readMore())
        })
      return [session]
    },
    get: () => session,
    enqueue: () => undefined,
    async whileReading() {
      state.readings += 1
      return { read: { rows: [], gone: new Set() }, released: new Set() }
    },
  } as unknown as QueueReaderDeps['sessions']
  const reader = new QueueReader({ sessions, begin: () => undefined } as unknown as QueueReaderDeps)

  await reader.readMore()
  await Promise.all(again)

  assert.deepEqual([state.readings, again.length, reader.isReading], [1, 1, false])
})
