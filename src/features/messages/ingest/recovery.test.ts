/** What a batch does about failures, with a path that fails as it is told and a database that answers as it is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageRow } from '../rows.ts'
import type { CommitDeps } from './commit-deps.ts'
import { recovering, type Path } from './recovery.ts'
import { momentAt, type AcceptRow } from './rows.ts'
import { undecided, unitOf, type Outcome, type Pending, type Unit } from './submission.ts'

const moment = momentAt(Date.parse('2026-01-01T00:00:00.000Z'), 10_000)
const refusedCode = 'ECONNREFUSED'

test('what was decided and committed stays so when the database is gone for the rest', async () => {
  const unit = unitWith('a', 'b', 'c')
  const path: Path = (_, units) => {
    accept(units, 'a', 'b')
    return Promise.reject(failure(refusedCode))
  }

  await recovering(depsWith(), [unit], moment, path)

  assert.deepEqual(unit.outcomes.map(wordOf), ['accepted', 'accepted', 'unreachable'])
  assert.equal(unit.answered, false)
})

/** What a path decides of these rows. */
function accept(units: readonly Unit[], ...ids: string[]): void {
  for (const { unit, index, row } of undecided(units)) if (ids.includes(row.id)) unit.outcomes[index] = { kind: 'accepted', row: { id: row.id } as MessageRow }
}

/** An interactive submission of messages with these ids. */
function unitWith(...ids: string[]): Unit {
  const items = ids.map(() => ({ message: {} }) as Pending['submission']['items'][number])
  const submission = { origin: { type: 'api', id: null }, lane: 'interactive', items } as const
  const unit = unitOf({ submission, outcomes: [], open: items.length, rejected: false, resolve: () => undefined, reject: () => undefined }, items, 0)
  for (const id of ids) unit.rows.push({ id, account_id: 'acc_1', mode: 'live', poisoned: false } as AcceptRow)
  return unit
}

/** Every look into the database comes to what `look` does; by default nothing stands there. */
function depsWith(look: () => Promise<readonly { id: string }[]> = () => Promise.resolve([])): CommitDeps {
  const platform = { pool: look, clock: { now: () => moment.at_ms, sleep: () => Promise.resolve() }, log: { warn: () => undefined, error: () => undefined } }
  return { platform } as unknown as CommitDeps
}

const failure = (code: string): Error => Object.assign(new Error(code), { code })

const wordOf = (outcome: Outcome | undefined): string | undefined => (outcome?.kind === 'unavailable' ? outcome.reason : outcome?.kind)
