/** Group commit with unexpected failures and a scripted database. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { until } from '../../../../test/support/waiting.ts'
import { limits } from '../../../api/limits.ts'
import type { CommitDeps } from './acceptance.ts'
import { groupCommit } from './group-commit.ts'
import type { Submission, Traffic } from './submission.ts'
import { producersOf } from './producers.ts'

const broken = new Error('nobody expected this')
const accepted = { n: 0, verdict: 'accepted', contact_id: null, package_grant_id: null }

/** As many large messages as fit in a batch. */
const fourAccepted = [0, 1, 2, 3].map((n) => ({ ...accepted, n }))

test('a rejected bulk submission commits nothing more, and others continue', async () => {
  const database = databaseThat(() => Promise.reject(broken))
  const pump = groupCommit(database.deps())

  await Promise.all([
    assert.rejects(pump.submit(messages('bulk', 3000)), broken),
    assert.rejects(pump.submit(messages('bulk', 40)), broken),
  ])
  await pump.stop()

  assert.deepEqual(pump.load(), { interactive: 0, bulk: 0, unadmitted: 0 })
  assert.ok(database.asked() <= 2, `${database.asked()} statements`)
})

test('a batch whose rows cannot be built is rejected, and the next batch continues', async () => {
  const database = databaseThat(() => Promise.resolve([accepted]))
  const memoryQueue = { process_id: 'process_1', lease_ms: 1000, offer: () => undefined, accepts: mock.fn(() => true) }
  memoryQueue.accepts.mock.mockImplementationOnce(() => {
    throw broken
  })
  const pump = groupCommit(database.deps({ memoryQueue }))

  await assert.rejects(pump.submit(messages('interactive', 1)), broken)
  const next = await pump.submit(messages('interactive', 1))
  await pump.stop()

  assert.deepEqual(
    next.map(({ kind }) => kind),
    ['accepted'],
  )
})

test('accepted messages are answered even if they cannot be queued in memory', async () => {
  const database = databaseThat(() => Promise.resolve([accepted]))
  const onAccepted = mock.fn(() => {
    throw broken
  })
  const pump = groupCommit(database.deps({ onAccepted }))

  const first = await pump.submit(messages('interactive', 1))
  const next = await pump.submit(messages('interactive', 1))
  await pump.stop()

  assert.equal(onAccepted.mock.callCount(), 2)
  assert.deepEqual(
    [...first, ...next].map(({ kind }) => kind),
    ['accepted', 'accepted'],
  )
})

test('an interactive submission that fits in no batch is refused before anything is stored', () => {
  const database = databaseThat(() => Promise.resolve([accepted]))
  const pump = groupCommit(database.deps())

  assert.throws(() => pump.submit(messages('interactive', limits.group_commit_rows_max + 1)), /at most/)

  assert.equal(database.asked(), 0)
  assert.equal(pump.load().interactive, 0)
})

test('a batch has a few large messages only, and a small message behind them is in the next batch', async () => {
  const database = databaseThat(() => Promise.resolve(fourAccepted))
  const pump = groupCommit(database.deps())
  const large = 'x'.repeat(1_000_000)

  const outcomes = await Promise.all([
    ...Array.from({ length: 12 }, () => pump.submit(messages('interactive', 1, large))),
    pump.submit(messages('interactive', 1)),
  ])
  await pump.stop()

  assert.deepEqual([...new Set(outcomes.flat().map(({ kind }) => kind))], ['accepted'])
  assert.ok(database.asked() >= 3, `${database.asked()} statements`)
})

test('large messages of an account wait up to a limit, and other accounts are not affected', async () => {
  const database = databaseThat(() => Promise.resolve(fourAccepted))
  const pump = groupCommit(database.deps())
  const large = 'x'.repeat(1_000_000)

  const flood = Array.from({ length: 200 }, () => pump.submit(messages('interactive', 1, large)))
  const other = pump.submit(messages('interactive', 1, 'Hello', 'acc_2'))
  const outcomes = await Promise.all(flood)
  await pump.stop()

  const full = outcomes.flat().filter((outcome) => outcome.kind === 'unavailable' && outcome.reason === 'full')
  assert.equal(full.length, 168)
  assert.deepEqual(
    (await other).map(({ kind }) => kind),
    ['accepted'],
  )
  assert.deepEqual(pump.load(), { interactive: 0, bulk: 0, unadmitted: 0 })
})

test('a message of one account is in the next batch, however many of another account wait', async () => {
  const answered: string[] = []
  const database = databaseThat(() =>
    Promise.resolve(Array.from({ length: limits.group_commit_rows_max }, (_, n) => ({ ...accepted, n }))),
  )
  const pump = groupCommit(database.deps())

  const flood = Array.from({ length: 40 }, (_, index) =>
    pump.submit(messages('interactive', 100)).then(() => answered.push(`flood ${index}`)),
  )
  await pump.submit(messages('interactive', 1, 'Hello', 'acc_2'))
  const before = answered.length
  await Promise.all(flood)
  await pump.stop()

  assert.ok(before <= 5, `${before} of 40 batches went before it`)
})

test('a bulk chunk does not start beside a commit of requests', async () => {
  const answered = Promise.withResolvers<void>()
  const rows = Array.from({ length: limits.group_commit_rows_max }, (_, n) => ({ ...accepted, n }))
  const database = databaseThat(async () => {
    if (database.asked() === 1) await answered.promise
    return rows
  })
  const [pump, idle] = [groupCommit(database.deps()), groupCommit(databaseThat(() => Promise.resolve(rows)).deps())]

  const request = pump.submit(messages('interactive', 1))
  await until('the commit of the request', () => database.asked() === 1)
  const bulk = pump.submit(messages('bulk', 100))
  // another pump, which is otherwise idle, commits as much in the meantime
  await idle.submit(messages('bulk', 100))
  const before = database.asked()
  answered.resolve()
  await Promise.all([request, bulk])
  await Promise.all([pump.stop(), idle.stop()])

  assert.equal(before, 1)
  assert.equal(database.asked(), 2)
})

test('one account may use a quarter of the capacity', async () => {
  const database = databaseThat(() =>
    Promise.resolve(Array.from({ length: limits.group_commit_rows_max }, (_, n) => ({ ...accepted, n }))),
  )
  const pump = groupCommit(database.deps())

  const flood = await Promise.all(Array.from({ length: 60 }, () => pump.submit(messages('interactive', 100))))
  await pump.stop()

  assert.equal(flood.filter(([first]) => first!.kind === 'unavailable').length, 10)
  assert.deepEqual(pump.load(), { interactive: 0, bulk: 0, unadmitted: 0 })
})

const messages = (traffic: Traffic, count: number, body = 'Hello', account_id = 'acc_1'): Submission => ({
  origin: { type: 'api', id: null },
  traffic,
  items: Array.from({ length: count }, () => ({
    message: {
      account_id,
      mode: 'live',
      channel_type: 'sms',
      content: { body },
      metadata: {},
      priority: 'normal',
      price_micros: 1,
      send_at: null,
      expires_in_seconds: null,
    },
  })) as unknown as Submission['items'],
})

/** A scripted database and the dependencies of the pump. */
function databaseThat(answers: () => Promise<unknown>) {
  let asked = 0
  const ask = () => {
    asked++
    return answers()
  }
  // oxlint-disable-next-line unicorn/no-thenable
  const pool = () => ({ then: (resolve: () => void, reject: () => void) => ask().then(resolve, reject) })
  const platform = {
    pool,
    clock: { now: () => Date.parse('2026-01-01T00:00:00.000Z') },
    storage: { failed: () => undefined },
    retention_clock: { now: () => Date.parse('2026-01-01T00:00:00.000Z') },
    ids: () => 'msg_1',
    metrics: { group_commit_rows: { observe: () => undefined }, messages_accepted: { inc: () => undefined } },
    log: { error: () => undefined },
    notify: () => undefined,
  }
  const memoryQueue = { accepts: () => true, process_id: 'process_1', lease_ms: 1000, offer: () => undefined }
  const deps = {
    platform,
    billing: { entryId: () => 'txn_1' },
    projections: { pairs: [], pairsOf: () => [], wake: () => undefined },
    producers: producersOf([]),
    memoryQueue,
    alone: () => true,
    onAccepted: () => undefined,
  }
  return { asked: () => asked, deps: (more: object = {}) => ({ ...deps, ...more }) as unknown as CommitDeps }
}
