import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../../providers/provider.ts'
import type { MessageRow } from '../message.ts'
import { stepOf } from '../transitions.ts'
import {
  attemptsOf,
  nextDue,
  outcomeOf,
  referencesOf,
  newItemsOf,
  transitionsOf,
  type Completion,
} from './completion.ts'

const at_ms = Date.parse('2026-01-01T00:00:10.000Z')

const row = {
  account_id: 'acc_1',
  mode: 'live',
  id: 'msg_1',
  channel_id: 'ch_1',
  status: 'queued',
  expires_at: null,
} as MessageRow
const completed = (
  outcome: Outcome,
  more: { attempts?: number; unknowns?: number; expires_at?: string; instant?: boolean } = {},
): Completion => ({
  job: {
    row: { ...row, expires_at: more.expires_at ?? null },
    attempts: more.attempts ?? 0,
    unknowns: more.unknowns ?? 0,
    claimed: true,
    outcome_unknown: false,
    due_ms: 0,
    lease_until_ms: 0,
  },
  provider: 'simulator',
  outcome,
  began_ms: at_ms - 10,
  duration_ms: 10,
  at_ms,
  instant: more.instant ?? false,
})
const throttled = (retry_after_ms?: number): Outcome => ({
  kind: 'throttled',
  limit_on: 'recipient',
  provider_code: null,
  message: '',
  ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
})
const wait = (completion: Completion) => (nextDue(completion) ?? Number.NaN) - at_ms

test('messages that were not sent are retried later and later, at most a minute apart', () => {
  const away: Outcome = { kind: 'unavailable', provider_code: null, message: '' }

  assert.deepEqual(
    [0, 1, 2, 6, 7, 50].map((attempts) => wait(completed(away, { attempts }))),
    [500, 1000, 2000, 32_000, 60_000, 60_000],
  )
})

test('an empty provider code is null on the message and on its attempt', () => {
  const kept = ['', ' ', null, 'EC_1'].map((provider_code) => {
    const completion = completed({ kind: 'refused', code: 'provider_error', provider_code, message: 'No.' })
    const step = stepOf(row, transitionsOf(completion))
    return [step?.after.error?.provider_code, attemptsOf(completion, (prefix) => `${prefix}_1`)[0]?.provider_code]
  })

  assert.deepEqual(kept, [
    [null, null],
    [null, null],
    [null, null],
    ['EC_1', 'EC_1'],
  ])
})

test('a throttled message waits as long as the provider asks, at most a minute', () => {
  assert.deepEqual(
    [throttled(), throttled(100), throttled(5000), throttled(3600_000)].map((outcome) => wait(completed(outcome))),
    [500, 500, 5000, 60_000],
  )
})

test('messages with unknown outcomes are retried after half a minute, then more rarely', () => {
  const ended: Completion[] = [
    completed({ kind: 'accepted', provider_ids: ['p'] }),
    completed({ kind: 'refused', code: 'provider_error', provider_code: null, message: '' }),
    { job: completed(throttled()).job, outcome: { kind: 'superseded' }, at_ms },
  ]

  assert.deepEqual(
    [0, 1, 2, 6].map((unknowns) => wait(completed({ kind: 'unknown', message: '' }, { attempts: 9, unknowns }))),
    [30_000, 60_000, 120_000, 1_920_000],
  )
  assert.deepEqual(ended.map(nextDue), [null, null, null])
})

test('a message that expires before its next attempt is checked when it does', () => {
  const soon = (expires_at: string) => wait(completed(throttled(5000), { expires_at }))

  assert.deepEqual(
    [soon('2026-01-01T00:00:12.000Z'), soon('2026-01-01T00:00:09.000Z'), soon('2026-01-02T00:00:00.000Z')],
    [2000, 0, 5000],
  )
})

test('due receipts of in-process providers are applied with the answer, all others are stored', () => {
  const item = (after_ms: number) => ({
    after_ms,
    item: { kind: 'delivery_receipt', provider_id: 'p', transition: 'deliver' } as const,
  })
  const outcome: Outcome = { kind: 'accepted', provider_ids: ['p'], later_items: [item(0), item(40)] }
  const seen = (instant: boolean) => {
    const completion = completed(outcome, { instant })
    return [
      transitionsOf(completion).map(({ transition }) => transition),
      newItemsOf(completion, (prefix) => `${prefix}_1`).map(({ next_run_at }) => next_run_at.slice(20, 23)),
    ]
  }

  assert.deepEqual(seen(true), [['claim', 'accept', 'deliver'], ['040']])
  assert.deepEqual(seen(false), [
    ['claim', 'accept'],
    ['000', '040'],
  ])
})

test('an attempt is dated by its start, and each part has a reference', () => {
  const completion = completed({ kind: 'accepted', provider_ids: ['one', 'two'] })

  assert.deepEqual(
    transitionsOf(completion).map(({ transition, at }) => [transition, at]),
    [
      ['claim', '2026-01-01T00:00:09.990Z'],
      ['accept', '2026-01-01T00:00:10.000Z'],
    ],
  )
  assert.deepEqual(
    referencesOf(completion).map(({ provider_id, part, parts }) => [provider_id, part, parts]),
    [
      ['one', 0, 2],
      ['two', 1, 2],
    ],
  )
})

test('a message that is throttled for eight attempts or never has an outcome is refused', () => {
  const if_lasting = {
    code: 'policy_violation',
    provider_code: '131048',
    message: 'Too many recipients item this sender.',
  } as const
  const spam: Outcome = {
    kind: 'throttled',
    limit_on: 'recipient',
    provider_code: '131048',
    message: 'Slow down.',
    if_lasting,
  }

  assert.deepEqual(
    [0, 6, 7, 20].map((attempts) => outcomeOf({ attempts }, spam).kind),
    ['throttled', 'throttled', 'refused', 'refused'],
  )
  assert.deepEqual(outcomeOf({ attempts: 7 }, spam), { kind: 'refused', ...if_lasting })
  const unknown: Outcome = { kind: 'unknown', message: '' }
  assert.deepEqual(
    [0, 6, 7].map((unknowns) => outcomeOf({ attempts: 9, unknowns }, unknown).kind),
    ['unknown', 'unknown', 'refused'],
  )
  assert.equal(outcomeOf({ attempts: 7 }, throttled()).kind, 'throttled')
})
