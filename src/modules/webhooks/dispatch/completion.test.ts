/** Recording of outcomes after lost answers and at shutdown. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPlatform } from '../../../../test/support/world.ts'
import { until, within } from '../../../../test/support/waiting.ts'
import { holdOpen } from '../../../../test/support/open-transactions.ts'
import { lockWaits } from '../../../../test/support/lock-waits.ts'
import { dropPending } from '../delivery-repository.ts'
import { Completer, recordingSets, recordOutcomes, type AttemptOutcome } from './completion.ts'
import type { EndpointSession } from './endpoint-sessions.ts'

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
  /** A failed attempt is repeated. */
  const outcome = (
    n: number,
    failed: boolean,
    more: { response_status?: number; breaker_open?: boolean } = {},
  ): AttemptOutcome => {
    const key = { endpoint_id: 'we_1', id: whd(n) }
    const shared = { ...tenant, event_type: 'message.sent' }
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
        breaker_open: more.breaker_open ?? false,
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
  return { pool, clock, platform, outcome, queue, failures }
}

test('failures count once, even when they are recorded again after a lost answer', async (t) => {
  const { pool, outcome, queue, failures } = await start(t)
  await queue(1, 2)
  const [set] = recordingSets([outcome(1, true), outcome(2, true)])

  const first = await recordOutcomes(pool, set!)
  const again = await recordOutcomes(pool, set!)

  assert.deepEqual(
    [[...first], [...again], await failures()],
    [[{ endpoint_id: 'we_1', failures: 2 }], [{ endpoint_id: 'we_1', failures: 2 }], 2],
  )
})

for (const breaker_open of [false, true])
  test(`failures before a success do not count beside those after it (${breaker_open ? 'under an open circuit' : 'together'})`, async (t) => {
    const { pool, outcome, queue, failures } = await start(t)
    await queue(1, 2, 3, 4, 5)

    const sets = recordingSets([
      outcome(1, true, { breaker_open }),
      outcome(2, true, { breaker_open }),
      outcome(3, false),
      outcome(4, true, { breaker_open }),
      outcome(5, true, { breaker_open }),
    ])
    for (const set of sets) await recordOutcomes(pool, set)

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
      sessions: { release: () => undefined },
      onFailures: async () => undefined,
      onIdle: () => quiet.resolve(),
    })

    for (const one of [outcome(1, true), outcome(2, false), outcome(3, true)]) completer.add(one)
    completer.flush()
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

test('recording outcomes and disabling their endpoint do not deadlock', async (t) => {
  const { pool, outcome, queue } = await start(t)
  for (const failed of [false, true]) {
    const [first, last] = failed ? [3, 4] : [1, 2]
    await queue(first, last)
    const [set] = recordingSets([outcome(last, failed), outcome(first, failed)])
    const recording: Promise<unknown>[] = []

    await holdOpen(pool, async (tx) => {
      await tx`select from webhook_queue where endpoint_id = 'we_1' and id = ${whd(first)} for update`
      recording.push(recordOutcomes(pool, set!))
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

test('a stopping process drops outcomes that could not be recorded, but tries each of them', async (t) => {
  const { pool, clock, platform, outcome, queue } = await start(t)
  await queue(1, 2)
  const [failed, quiet] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const completer = new Completer({
    platform: { ...platform, log: { warn: () => failed.resolve() } as unknown as typeof platform.log },
    sessions: { release: () => undefined },
    onFailures: async () => undefined,
    onIdle: () => quiet.resolve(),
  })

  // no column stores such a number
  completer.add(outcome(1, false, { response_status: 10 ** 12 }))
  completer.abandon()
  completer.flush()
  await within('the first recording to fail', failed.promise)
  completer.add(outcome(2, false))
  await clock.advance(1_000)
  await within('nothing to be left', quiet.promise)

  assert.deepEqual(
    [...(await pool`select id from webhook_queue`)].map(({ id }) => id),
    [whd(1)],
  )
})
