import assert from 'node:assert/strict'
import test from 'node:test'
import { type Candidate, scheduleOf } from './scheduling.ts'

function combinations<T extends object>(choices: { readonly [K in keyof T]: readonly T[K][] }): T[] {
  let all: object[] = [{}]
  for (const [name, values] of Object.entries<readonly unknown[]>(choices))
    all = all.flatMap((one) => values.map((value) => ({ ...one, [name]: value })))
  return all as T[]
}

const [words, yesNo] = [
  [true, false, null],
  [true, false],
]

const everything: Candidate[] = combinations<{
  consent_mode: 'implied' | 'explicit'
  category: 'transactional' | 'marketing'
  transactional: boolean | null
  marketing: boolean | null
  conditions_met: boolean
  to: string | null
  blocked: boolean
  stopped_marketing: boolean
}>({
  consent_mode: ['implied', 'explicit'],
  category: ['transactional', 'marketing'],
  transactional: words,
  marketing: words,
  conditions_met: yesNo,
  to: ['+4915112345678', null],
  blocked: yesNo,
  stopped_marketing: yesNo,
}).map(({ consent_mode, category, transactional, marketing, conditions_met, ...recipient }) => ({
  source: { consent_mode },
  automation: { category, delay_seconds: 60 },
  consent: { transactional, marketing },
  conditions_met,
  recipient,
}))

test('an automation runs unless conditions, consent or an opt-out prevent it', () => {
  for (const matched of everything) {
    const { source, automation, consent, conditions_met, recipient } = matched
    const marketing = automation.category === 'marketing'
    const agreed = marketing
      ? consent.marketing !== false
      : source.consent_mode === 'explicit'
        ? consent.transactional === true
        : consent.transactional !== false
    const may =
      conditions_met &&
      recipient.to !== null &&
      agreed &&
      !recipient.blocked &&
      !(marketing && recipient.stopped_marketing)

    const { status, reason, scheduled_for } = scheduleOf(matched, Date.parse('2026-01-31T09:30:00.000Z'))

    assert.deepEqual(
      [status, reason === null, scheduled_for],
      [may ? 'scheduled' : 'skipped', may, '2026-01-31T09:31:00.000Z'],
      JSON.stringify(matched),
    )
  }
})

test('the reason depends only on the first failed check', () => {
  for (const matched of everything) {
    const { reason } = scheduleOf(matched, 0)
    if (!matched.conditions_met) assert.equal(reason, 'condition_not_met')
    else if (matched.recipient.to === null) assert.equal(reason, 'no_identifier')
    else if (matched.recipient.blocked) assert.ok(reason === 'unsubscribed' || reason === 'consent_missing')
  }
})
