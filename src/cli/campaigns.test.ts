import assert from 'node:assert/strict'
import test from 'node:test'
import type { Campaign } from '../api/resources/campaign.ts'
import { durationText, progressLine, type Sample } from './campaigns.ts'

const counters = {
  total: 1000,
  queued: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
  skip_reasons: {},
}
const look = (
  at: number,
  sent: number,
  status: Campaign['status'] = 'sending',
  change: Partial<Campaign> = {},
): Sample => ({
  at,
  campaign: {
    status,
    pause_reason: null,
    failure_reason: null,
    counters: { ...counters, sent, queued: 1000 - sent },
    ...change,
  } as Campaign,
})

test('a sending campaign shows progress, rate and time left', () => {
  assert.equal(
    progressLine([look(0, 300), look(10_000, 500)]),
    '[############............]  50 %  500/1000  sending  20.0/s  25 s left',
  )
})

test('the rate covers the last ten seconds, and is unknown at first', () => {
  assert.equal(progressLine([look(0, 500)]), '[############............]  50 %  500/1000  sending')
  assert.match(progressLine([look(0, 0), look(20_000, 500), look(30_000, 500)]), /sending {2}0\.0\/s$/)
})

test('a paused campaign shows the reason and no rate', () => {
  const paused = look(10_000, 500, 'paused', { pause_reason: 'insufficient_balance' })

  assert.equal(
    progressLine([look(0, 300), paused]),
    '[############............]  50 %  500/1000  paused (insufficient_balance)',
  )
})

test('failed, skipped and cancelled recipients are counted separately, and 100 % is shown only at the end', () => {
  const ended = { ...counters, sent: 900, failed: 40, skipped: 50, cancelled: 9, queued: 1 }

  assert.equal(
    progressLine([look(0, 0, 'cancelled', { counters: ended })]),
    '[#######################.]  99 %  999/1000  cancelled  40 failed, 50 skipped, 9 cancelled',
  )
})

test('before the snapshot nothing is done yet', () => {
  assert.equal(
    progressLine([look(0, 0, 'queued', { counters: { ...counters, total: 0 } })]),
    '[........................]   0 %  0/0  queued',
  )
})

test('durations are rounded', () => {
  assert.deepEqual([0.2, 90, 91, 3600, 12_000].map(durationText), ['1 s', '90 s', '2 min', '1 h 0 min', '3 h 20 min'])
})
