/** What may begin: fairness between accounts, places for slow endpoints, the circuit; and what a session lets go of. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import { circuitAt, circuitEveryMs } from './circuit.ts'
import type { DeliveryJob } from './endpoint-session.ts'
import { Scheduler } from './scheduler.ts'
import { EndpointSessions } from './endpoint-sessions.ts'

function start(body = Buffer.from('{}')) {
  const clock = fakeClock()
  const queued: number[] = []
  const sessions = new EndpointSessions((batches) => void queued.push(...batches))
  const begun: string[] = []
  const lost = new Set<string>()
  const scheduler = new Scheduler({
    clock,
    sessions,
    bodies: { get: (event_id) => (lost.has(event_id) ? undefined : body) },
    begin: (session, job) => void begun.push(`${session.endpoint_id} ${job.id}`),
  })
  /** An active endpoint of an account, with so many deliveries that wait. */
  const endpoint = (endpoint_id: string, account_id: string, waiting: number, batch?: number) => {
    const session = sessions.open(endpoint_id, clock.elapsed())
    Object.assign(session, { account_id, mode: 'live', version: 1, active: true, taken: true })
    const job = (n: number): DeliveryJob => ({
      endpoint_id,
      id: `whd_${n}`,
      account_id,
      mode: 'live',
      event_id: `evt_${n}`,
      event_type: 'message.sent',
      attempts: 0,
      scheduled: true,
      due_ms: 0,
      started_at: 0,
      circuit: false,
      group:
        batch === undefined
          ? undefined
          : { batch, endpoint_id, account_id, mode: 'live', event_type: 'message.sent', created_at: '' },
    })
    sessions.keep(
      session,
      Array.from({ length: waiting }, (_, i) => job(i + 1)),
    )
    return session
  }
  return { clock, sessions, scheduler, begun, queued, lost, endpoint }
}

test('attempts begin in turn between accounts, few at an endpoint that has not answered yet', () => {
  const { scheduler, begun, endpoint } = start()
  endpoint('we_a1', 'acc_a', 2)
  endpoint('we_a2', 'acc_a', 2)
  endpoint('we_b1', 'acc_b', 6)

  scheduler.beginAll()

  assert.deepEqual(begun, [
    'we_a1 whd_1',
    'we_b1 whd_1',
    'we_a2 whd_1',
    'we_b1 whd_2',
    'we_a1 whd_2',
    'we_b1 whd_3',
    'we_a2 whd_2',
    'we_b1 whd_4',
  ])
  assert.equal(scheduler.underWay, 8)
  assert.equal(scheduler.takeBegun(), 8)
  assert.equal(scheduler.takeBegun(), 0)
})

test('under an open circuit one attempt begins at a time, and at most one a second', async () => {
  const { clock, scheduler, begun, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 5)
  session.failures = circuitAt

  scheduler.beginAll()
  scheduler.beginAll()
  const first = begun.length
  const [job] = session.underWay
  session.underWay.clear()
  scheduler.ended(job!, false)
  scheduler.beginNext(session)
  const tooEarly = begun.length
  await clock.advance(circuitEveryMs)
  scheduler.beginNext(session)

  assert.deepEqual([first, tooEarly, begun.length], [1, 1, 2])
})

test('a clock that is set back does not keep an open circuit from its next attempt', async () => {
  const { clock, scheduler, begun, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 5)
  session.failures = circuitAt
  scheduler.beginAll()
  const [job] = session.underWay
  session.underWay.clear()
  scheduler.ended(job!, false)

  clock.jump(-3600_000)
  await clock.advance(circuitEveryMs)
  scheduler.beginNext(session)

  assert.equal(begun.length, 2)
})

test('slow endpoints take half of all places at most, and quick ones the rest', () => {
  const { scheduler, begun, endpoint } = start()
  for (let i = 0; i < 40; i++) Object.assign(endpoint(`we_slow_${i}`, `acc_${i}`, 64), { slow: true, limit: 64 })
  for (let i = 0; i < 40; i++) Object.assign(endpoint(`we_quick_${i}`, `acc_${i}`, 64), { limit: 64 })

  scheduler.beginAll()

  const slow = begun.filter((one) => one.startsWith('we_slow')).length
  assert.deepEqual([slow, begun.length], [1_024, 2_048])
})

test('a large body takes the places of many small ones, and leaves them when its attempt ends', () => {
  const { scheduler, begun, endpoint } = start(Buffer.alloc(1024 * 1024))
  const sessions = Array.from({ length: 40 }, (_, i) =>
    Object.assign(endpoint(`we_${i}`, `acc_${i}`, 64), { limit: 64 }),
  )

  scheduler.beginAll()
  const atOnce = begun.length
  const [session] = sessions
  const [job] = session!.underWay
  session!.underWay.delete(job!)
  scheduler.ended(job!, false)
  scheduler.beginNext(session!)

  assert.deepEqual([atOnce, begun.length], [128, 129])
})

test('nothing begins at an endpoint that has changed or is disabled, nor once the scheduler has stopped', () => {
  const { scheduler, begun, endpoint } = start()
  endpoint('we_1', 'acc_1', 1).stale = true
  endpoint('we_2', 'acc_1', 1).active = false
  scheduler.beginAll()
  endpoint('we_3', 'acc_1', 1)
  scheduler.stop()
  scheduler.beginAll()

  assert.deepEqual(begun, [])
})

test('a delivery whose body has fallen out of memory is read again, and what was handed off goes to the queue', () => {
  const { scheduler, sessions, begun, queued, lost, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 2, 7)
  const capacity = sessions.capacity()
  lost.add('evt_1')

  scheduler.beginAll()

  assert.deepEqual([begun, queued, session.buffer.length, session.held.size, session.more], [[], [7, 7], 0, 0, true])
  assert.equal(sessions.capacity(), capacity + 2)
})

test('what is released while rows are read is known to the reader', async () => {
  const { sessions, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 1)

  const { released } = await sessions.whileReading(async () => sessions.release(session, session.buffer[0]!))
  sessions.close(session)

  assert.deepEqual([...released], ['whd_1'])
  assert.equal(sessions.get('we_1'), undefined)
})
