import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeUsage, nextDay, nextMonth, usageOfCharge, usagePeriod } from './usage.ts'

const now = Date.parse('2026-03-31T23:59:59.999Z')

test('a usage query covers the last 30 days by default', () => {
  assert.deepEqual(usagePeriod({}, now), { from: '2026-03-02', to: '2026-03-31' })
  assert.deepEqual(usagePeriod({ to: '2026-03-30' }, now), { from: '2026-03-01', to: '2026-03-30' })
  assert.deepEqual(usagePeriod({ from: '2026-03-30' }, now), { from: '2026-03-30', to: '2026-03-31' })
})

test('a usage query before year 1 starts with its first day', () => {
  assert.deepEqual(usagePeriod({ to: '0001-01-10' }, now), { from: '0001-01-01', to: '0001-01-10' })
  assert.deepEqual(usagePeriod({ to: '0001-01-01' }, now), { from: '0001-01-01', to: '0001-01-01' })
})

test('a usage query covers at most 366 days and must not run backwards', () => {
  assert.deepEqual(usagePeriod({ from: '2025-03-31', to: '2026-03-31' }, now), { from: '2025-03-31', to: '2026-03-31' })
  assert.throws(() => usagePeriod({ from: '2025-03-30', to: '2026-03-31' }, now), {
    code: 'parameter_invalid',
    param: 'from',
  })
  assert.throws(() => usagePeriod({ from: '2026-03-31', to: '2026-03-30' }, now), {
    code: 'parameter_invalid',
    param: 'from',
  })
})

test('days and months end where the next one starts', () => {
  assert.equal(nextDay('2024-02-28'), '2024-02-29')
  assert.equal(nextDay('2026-12-31'), '2027-01-01')
  assert.equal(nextMonth('2026-12-01'), '2027-01-01')
})

test('a batch adds one row per day and channel', () => {
  const message = {
    account_id: 'acc_a',
    mode: 'live',
    channel_type: 'sms',
    channel_id: 'ch_1',
    created_at: '2026-03-31T23:59:59.999Z',
  } as const
  const merged = mergeUsage([
    usageOfCharge(message, { source: 'wallet', amount_micros: 7500 }),
    usageOfCharge(message, { source: 'package', amount_micros: 0 }),
    usageOfCharge({ ...message, created_at: '2026-04-01T00:00:00.000Z' }, { source: 'wallet', amount_micros: 7500 }),
  ])

  assert.deepEqual(
    merged.map(({ day, messages, package_credits, wallet_micros }) => [day, messages, package_credits, wallet_micros]),
    [
      ['2026-03-31', 2, 1, 7500],
      ['2026-04-01', 1, 0, 7500],
    ],
  )
})
