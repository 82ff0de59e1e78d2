/** Which deliveries start, and when. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import { breakerThreshold, breakerIntervalMs } from './circuit-breaker.ts'
import { type DeliveryJob, EndpointSessions } from './endpoint-sessions.ts'
import { Scheduler } from './scheduler.ts'

function start(body = Buffer.from('{}')) {
  const clock = fakeClock()
  const sessions = new EndpointSessions()
  const begun: string[] = []
  const lost = new Set<string>()
  const scheduler = new Scheduler({
    clock,
    sessions,
    bodies: { get: (event_id) => (lost.has(event_id) ? undefined : body) },
    begin: (session, job) => void begun.push(`${session.endpoint_id} ${job.id}`),
  })
  /** An active endpoint with waiting deliveries. */
  const endpoint = (endpoint_id: string, account_id: string, waiting: number) => {
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
      breaker_open: false,
    })
    sessions.enqueue(
      session,
      Array.from({ length: waiting }, (_, i) => job(i + 1)),
    )
    return session
  }
  return { clock, sessions, scheduler, begun, lost, endpoint }
}

test('accounts take turns, and a new endpoint gets few attempts at first', () => {
  const { scheduler, begun, endpoint } = start()
  endpoint('we_a1', 'acc_a', 2)
  endpoint('we_a2', 'acc_a', 2)
  endpoint('we_b1', 'acc_b', 6)

  scheduler.startAll()

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
  assert.equal(scheduler.inProgress, 8)
  assert.equal(scheduler.takeStarted(), 8)
  assert.equal(scheduler.takeStarted(), 0)
})

test('under an open breaker one attempt runs at a time, at most one a second', async () => {
  const { clock, scheduler, begun, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 5)
  session.failures = breakerThreshold

  scheduler.startAll()
  scheduler.startAll()
  const first = begun.length
  const [job] = session.inProgress
  session.inProgress.clear()
  scheduler.ended(job!, false)
  scheduler.startNext(session)
  const tooEarly = begun.length
  await clock.advance(breakerIntervalMs)
  scheduler.startNext(session)

  assert.deepEqual([first, tooEarly, begun.length], [1, 1, 2])
})

test('a clock that is set back does not delay the next attempt under an open breaker', async () => {
  const { clock, scheduler, begun, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 5)
  session.failures = breakerThreshold
  scheduler.startAll()
  const [job] = session.inProgress
  session.inProgress.clear()
  scheduler.ended(job!, false)

  clock.jump(-3600_000)
  await clock.advance(breakerIntervalMs)
  scheduler.startNext(session)

  assert.equal(begun.length, 2)
})

test('slow endpoints use at most half of the slots', () => {
  const { scheduler, begun, endpoint } = start()
  for (let i = 0; i < 40; i++) Object.assign(endpoint(`we_slow_${i}`, `acc_${i}`, 64), { slow: true, limit: 64 })
  for (let i = 0; i < 40; i++) Object.assign(endpoint(`we_quick_${i}`, `acc_${i}`, 64), { limit: 64 })

  scheduler.startAll()

  const slow = begun.filter((one) => one.startsWith('we_slow')).length
  assert.deepEqual([slow, begun.length], [1_024, 2_048])
})

test('a large body uses many slots until its attempt ends', () => {
  const { scheduler, begun, endpoint } = start(Buffer.alloc(1024 * 1024))
  const sessions = Array.from({ length: 40 }, (_, i) =>
    Object.assign(endpoint(`we_${i}`, `acc_${i}`, 64), { limit: 64 }),
  )

  scheduler.startAll()
  const atOnce = begun.length
  const [session] = sessions
  const [job] = session!.inProgress
  session!.inProgress.delete(job!)
  scheduler.ended(job!, false)
  scheduler.startNext(session!)

  assert.deepEqual([atOnce, begun.length], [128, 129])
})

test('nothing starts for a changed or disabled endpoint, or after the scheduler stopped', () => {
  const { scheduler, begun, endpoint } = start()
  endpoint('we_1', 'acc_1', 1).stale = true
  endpoint('we_2', 'acc_1', 1).active = false
  scheduler.startAll()
  endpoint('we_3', 'acc_1', 1)
  scheduler.stop()
  scheduler.startAll()

  assert.deepEqual(begun, [])
})

test('a delivery whose body was evicted is read again', () => {
  const { scheduler, sessions, begun, lost, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 2)
  const capacity = sessions.capacity()
  lost.add('evt_1')

  scheduler.startAll()

  assert.deepEqual([begun, session.buffer.length, session.loaded.size, session.more], [[], 0, 0, true])
  assert.equal(sessions.capacity(), capacity + 2)
})

test('the reader knows deliveries that were released during a read', async () => {
  const { sessions, endpoint } = start()
  const session = endpoint('we_1', 'acc_1', 1)

  const { released } = await sessions.whileReading(async () => sessions.release(session, session.buffer[0]!))
  sessions.close(session)

  assert.deepEqual([...released], ['whd_1'])
  assert.equal(sessions.get('we_1'), undefined)
})
