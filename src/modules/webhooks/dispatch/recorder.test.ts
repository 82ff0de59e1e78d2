/** What recording promises when an answer of the database was lost, and when a process gives up. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import { until, within } from '../../../../test/support/waiting.ts'
import { holdOpen } from '../../../../test/support/open-transactions.ts'
import { lockWaits } from '../../../../test/support/lock-waits.ts'
import { dropPending } from '../deliveries/store.ts'
import { encodeHandoff } from '../fan-out/handoff.ts'
import { Completer } from './completer.ts'
import type { EndpointSession } from './endpoint-session.ts'
import type { OpenHandoffs } from './open-handoffs.ts'
import { recordHandedOff, recordingSets, recordQueued, type AttemptOutcome } from './recorder.ts'

const tenant = { account_id: 'acc_1', mode: 'test' } as const
const whd = (n: number) => `whd_${String(n).padStart(26, '0')}`
const evt = (n: number) => `evt_${String(n).padStart(26, '0')}`

async function start(t: TestContext) {
  const { pool, clock, platform } = await startPlatform(t)
  const at = clock.iso()
  await pool`
    insert into webhook_endpoints (account_id, mode, id, url, description, events, status, filters, metadata, created_by, secret, created_at)
    values (${tenant.account_id}, 'test', 'we_1', 'https://example.com', '', '{*}', 'active', '{}', '{}', '{}', '', ${at})`
  await pool`insert into webhook_leases (endpoint_id, process_id, failures) values ('we_1', 'p', 0)`
  /** The outcome of an attempt: one that failed is attempted again. */
  const outcome = (
    n: number,
    failed: boolean,
    more: { batch?: number; response_status?: number; circuit?: boolean } = {},
  ): AttemptOutcome => {
    const key = { endpoint_id: 'we_1', id: whd(n) }
    const shared = { ...tenant, event_type: 'message.sent' }
    const group =
      more.batch === undefined ? undefined : { batch: more.batch, endpoint_id: 'we_1', ...shared, created_at: at }
    return {
      session: {} as EndpointSession,
      job: {
        ...key,
        ...shared,
        event_id: evt(n),
        attempts: 0,
        scheduled: true,
        due_ms: 0,
        started_at: 0,
        circuit: more.circuit ?? false,
        group,
      },
      failed,
      result: {
        ...key,
        status: failed ? null : 'delivered',
        attempts: 1,
        response_status: more.response_status ?? (failed ? 500 : 200),
        duration_ms: 7,
        error: null,
        error_message: null,
        next_attempt_at: failed ? clock.iso(60_000) : null,
      },
    }
  }
  const queue = async (...numbers: number[]) => {
    for (const n of numbers)
      await pool`
        insert into webhook_queue (endpoint_id, id, account_id, mode, event_id, event_type, next_run_at, created_at)
        values ('we_1', ${whd(n)}, ${tenant.account_id}, 'test', ${evt(n)}, 'message.sent', ${at}, ${at})`
  }
  const failures = async () => (await pool<{ failures: number }[]>`select failures from webhook_leases`)[0]!.failures
  const handOff = async (...numbers: number[]) => {
    const { endpoints, deliveries } = encodeHandoff(
      numbers.map((n) => ({
        id: whd(n),
        endpoint_id: 'we_1',
        ...tenant,
        event_id: evt(n),
        event_type: 'message.sent',
        next_run_at: at,
      })),
    )
    await pool`
      insert into webhook_handoffs (process_id, id, created_at, endpoints, deliveries, size)
      values ('p', 1, ${at}, ${endpoints}, ${deliveries}, ${numbers.length})`
  }
  return { pool, clock, platform, outcome, queue, handOff, failures }
}

test('failures of deliveries from the queue count once, though they are recorded again after a lost answer', async (t) => {
  const { pool, outcome, queue, failures } = await start(t)
  await queue(1, 2)
  const [set] = recordingSets([outcome(1, true), outcome(2, true)])

  const first = await recordQueued(pool, set!)
  const again = await recordQueued(pool, set!)

  assert.deepEqual(
    [[...first], [...again], await failures()],
    [[{ endpoint_id: 'we_1', failures: 2 }], [{ endpoint_id: 'we_1', failures: 2 }], 2],
  )
})

test('failures of deliveries that were handed off count once, though they are recorded again, whether their batch is left or not', async (t) => {
  const { pool, outcome, handOff, failures } = await start(t)
  await handOff(1, 2, 3)
  const [some] = recordingSets([outcome(1, true, { batch: 1 }), outcome(2, true, { batch: 1 })])
  const [last] = recordingSets([outcome(3, true, { batch: 1 })])

  for (const _ of [1, 2]) await recordHandedOff(pool, 'p', some!, [])
  const before = await failures()
  for (const _ of [1, 2]) await recordHandedOff(pool, 'p', last!, [1])

  assert.deepEqual([before, await failures()], [2, 3])
})

for (const circuit of [false, true])
  test(`failures before a success do not count beside those after it, handed off or queued (${circuit ? 'under an open circuit' : 'together'})`, async (t) => {
    const { pool, outcome, queue, handOff, failures } = await start(t)
    await handOff(1, 2)
    await queue(3, 4, 5)

    const sets = recordingSets([
      outcome(1, true, { batch: 1, circuit }),
      outcome(2, true, { batch: 1, circuit }),
      outcome(3, false),
      outcome(4, true, { circuit }),
      outcome(5, true, { circuit }),
    ])
    for (const set of sets)
      await (set.outcomes[0]!.job.group === undefined ? recordQueued(pool, set) : recordHandedOff(pool, 'p', set, []))

    assert.equal(await failures(), 2)
  })

for (const { what, refused, times } of [
  { what: 'failures cannot', refused: ['webhook_retries check (false)'], times: 1 },
  { what: 'nothing can', refused: ['webhook_retries check (false)', 'webhook_deliveries check (false)'], times: 2 },
])
  test(`a success counts between failures where ${what} be recorded at first`, async (t) => {
    const { pool, clock, platform, outcome, queue, failures } = await start(t)
    await queue(1, 2, 3)
    for (const one of refused) await pool.unsafe(`alter table ${one.replace('check', 'add constraint refused check')}`)
    let warnings = 0
    const quiet = Promise.withResolvers<void>()
    const completer = new Completer({
      platform: { ...platform, log: { warn: () => (warnings += 1) } as unknown as typeof platform.log },
      handoffs: {} as OpenHandoffs,
      sessions: { release: () => undefined },
      failing: async () => undefined,
      quiet: () => quiet.resolve(),
    })

    for (const one of [outcome(1, true), outcome(2, false), outcome(3, true)]) completer.add(one)
    completer.soon()
    for (let n = 1; n <= times; n += 1) {
      if (n > 1) await clock.advance(1_000)
      await until(
        'a recording to fail',
        () => warnings,
        (seen) => seen === n,
      )
    }
    for (const one of refused) await pool.unsafe(`alter table ${one.split(' ')[0]} drop constraint refused`)
    await clock.advance(1_000)
    await within('everything to be recorded', quiet.promise)

    assert.equal(await failures(), 1)
  })

test('attempts that end in another order than they began are recorded beside a disabling that drops the same deliveries, and neither is broken off', async (t) => {
  const { pool, outcome, queue } = await start(t)
  for (const failed of [false, true]) {
    const [first, last] = failed ? [3, 4] : [1, 2]
    await queue(first, last)
    const [set] = recordingSets([outcome(last, failed), outcome(first, failed)])
    const recording: Promise<unknown>[] = []

    await holdOpen(pool, async (tx) => {
      await tx`select from webhook_queue where endpoint_id = 'we_1' and id = ${whd(first)} for update`
      recording.push(recordQueued(pool, set!))
      await until(
        'the recording to wait',
        () => lockWaits(pool),
        (waiting) => waiting > 0,
      )
      await dropPending(tx, 'we_1', 10)
    })
    await Promise.all(recording)
  }

  const ended = await pool<{ id: string; error: string }[]>`select id, error from webhook_deliveries order by id`
  assert.deepEqual(
    ended.map(({ id, error }) => [id, error]),
    [1, 2, 3, 4].map((n) => [whd(n), 'endpoint_disabled']),
  )
})

test('a process that gives up drops what could not be recorded, and no outcome that it has not tried', async (t) => {
  const { pool, clock, platform, outcome, queue } = await start(t)
  await queue(1, 2)
  const [failed, quiet] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const completer = new Completer({
    platform: { ...platform, log: { warn: () => failed.resolve() } as unknown as typeof platform.log },
    handoffs: {} as OpenHandoffs,
    sessions: { release: () => undefined },
    failing: async () => undefined,
    quiet: () => quiet.resolve(),
  })

  // no column takes such a number
  completer.add(outcome(1, false, { response_status: 10 ** 12 }))
  completer.giveUp()
  completer.soon()
  await within('the first recording to fail', failed.promise)
  completer.add(outcome(2, false))
  await clock.advance(1_000)
  await within('nothing to be left', quiet.promise)

  assert.deepEqual(
    [...(await pool`select id from webhook_queue`)].map(({ id }) => id),
    [whd(1)],
  )
})
