/** Recovery of a batch with a scripted path and database. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { MessageRow } from '../message.ts'
import type { CommitDeps } from './acceptance.ts'
import { endFailed, type Path, recovering } from './recovery.ts'
import { type AcceptRow, momentAt } from './row.ts'
import { type ItemOutcome, type Pending, undecided, type Unit, unitOf } from './submission.ts'

const moment = momentAt(Date.parse('2026-01-01T00:00:00.000Z'), 10_000)
const refusedCode = 'ECONNREFUSED'
const lostCode = 'CONNECTION_CLOSED'

test('committed outcomes stay when the database is lost for the rest', async () => {
  const unit = unitWith('a', 'b', 'c')
  const path: Path = (_, units) => {
    accept(units, 'a', 'b')
    return Promise.reject(failure(refusedCode))
  }

  await recovering(depsWith(), [unit], moment, path)

  assert.deepEqual(unit.outcomes.map(wordOf), ['accepted', 'accepted', 'unreachable'])
  assert.equal(unit.answered, false)
})

test('a failure without a bad row is reported, even if a part is decided already', async () => {
  const unit = unitWith('a', 'b')
  const fault = failure('22003')
  const path: Path = (_, units) => {
    accept(units, 'a')
    return Promise.reject(fault)
  }
  // each row is stored without an error, and rolled back
  const begin = async (work: (tx: unknown) => Promise<unknown>) => await work(() => Promise.resolve([]))
  const deps = depsWith(Object.assign(() => Promise.resolve([{ id: 'a' }]), { begin }))

  await assert.rejects(recovering(deps, [unit], moment, path), fault)

  assert.deepEqual(unit.outcomes.map(wordOf), ['accepted', undefined])
})

test('a lost commit stays uncertain when the repeat cannot reach the database', async () => {
  const [unit, failures] = [unitWith('a'), [failure(lostCode), failure(refusedCode)]]
  const path: Path = () => Promise.reject(failures.shift()!)
  let looks = 0

  // the first look-up finds nothing, then the database stops answering
  await recovering(
    depsWith(() => (looks++ === 0 ? Promise.resolve([]) : Promise.reject(failure(refusedCode)))),
    [unit],
    moment,
    path,
  )

  assert.equal(failures.length, 0)
  assert.deepEqual(unit.outcomes.map(wordOf), ['uncertain'])
})

for (const code of ['53300', '57014', '28P01'])
  test(`a lost commit stays uncertain while the look-up fails (${code})`, async () => {
    const unit = unitWith('a')
    let asked = 0
    const refuses = () => {
      asked += 1
      return Promise.reject(failure(code))
    }

    await recovering(depsWith(refuses), [unit], moment, () => Promise.reject(failure(lostCode)))

    assert.deepEqual([asked, unit.outcomes.map(wordOf)], [20, ['uncertain']])
  })

test('a lost commit is found once the server accepts connections again', async () => {
  const unit = unitWith('a')
  let looks = 0
  const look = () => (looks++ < 3 ? Promise.reject(failure('53300')) : Promise.resolve([{ id: 'a' }]))

  await recovering(depsWith(look), [unit], moment, () => Promise.reject(failure(lostCode)))

  assert.deepEqual(unit.outcomes.map(wordOf), ['accepted'])
})

test('without a connection nothing is stored for certain', async () => {
  const unit = unitWith('a')

  await recovering(depsWith(), [unit], moment, () => Promise.reject(failure('53300')))

  assert.deepEqual(unit.outcomes.map(wordOf), ['unreachable'])
})

test('after an unexpected failure only units that cannot be stored are rejected', () => {
  const [lost, partly, plain] = [unitWith('a'), unitWith('b', 'c'), unitWith('d')]
  lost.mayBeStored = true
  accept([partly], 'b')

  endFailed([lost, partly, plain], new Error('unexpected'))

  assert.deepEqual(
    [lost, partly, plain].map(({ outcomes, pending }) => [...outcomes.map(wordOf), pending.rejected]),
    [
      ['uncertain', false],
      ['accepted', 'uncertain', false],
      [undefined, true],
    ],
  )
})

test('a database that hangs is queried for five seconds at most', async () => {
  const unit = unitWith('a')
  let [asked, now] = [0, 0]
  const hangs = () => {
    asked += 1
    now += 2500
    return Promise.reject(failure('CONNECT_TIMEOUT'))
  }
  const deps = depsWith(hangs)
  Object.assign(deps.platform.clock, { elapsed: () => now })

  await recovering(deps, [unit], moment, () => Promise.reject(failure('ETIMEDOUT')))

  assert.deepEqual([asked, unit.outcomes.map(wordOf)], [2, ['uncertain']])
})

test('units that always fail together are separated, and the others are accepted', async () => {
  const ids = Array.from({ length: 64 }, (_, at) => `${at}`)
  const units = ids.map((id) => unitWith(id))
  const path = mock.fn<Path>((_, batch) => {
    const wanted = undecided(batch).map(({ row }) => row.id)
    if (wanted.includes('3') && wanted.includes('50')) return Promise.reject(failure('40001'))
    accept(batch, ...wanted)
    return Promise.resolve()
  })

  await recovering(depsWith(), units, moment, path)

  assert.ok(units.every(({ outcomes }) => outcomes[0]?.kind === 'accepted'))
  assert.ok(path.mock.callCount() < 30, `${path.mock.callCount()} attempts`)
})

test('a unit that races alone at every repeat is rejected', async () => {
  const path = mock.fn<Path>(() => Promise.reject(failure('40001')))

  await assert.rejects(recovering(depsWith(), [unitWith('a'), unitWith('b')], moment, path), /40001/)

  assert.ok(path.mock.callCount() < 30, `${path.mock.callCount()} attempts`)
})

/** The outcomes of a path. */
function accept(units: readonly Unit[], ...ids: string[]): void {
  for (const { unit, index, row } of undecided(units))
    if (ids.includes(row.id)) unit.outcomes[index] = { kind: 'accepted', row: { id: row.id } as MessageRow }
}

/** An interactive submission of messages with these ids. */
function unitWith(...ids: string[]): Unit {
  const items = ids.map(() => ({ message: {} }) as Pending['submission']['items'][number])
  const submission = { origin: { type: 'api', id: null }, traffic: 'interactive', items } as const
  const unit = unitOf(
    {
      submission,
      outcomes: [],
      open: items.length,
      rejected: false,
      resolve: () => undefined,
      reject: () => undefined,
    },
    items,
    0,
  )
  for (const id of ids) unit.rows.push({ id, account_id: 'acc_1', mode: 'live', poisoned: false } as AcceptRow)
  return unit
}

/** Every look-up runs `look`; by default nothing is found. */
function depsWith(look: () => Promise<readonly { id: string }[]> = () => Promise.resolve([])): CommitDeps {
  const projections = { pairs: [], pairsOf: () => [], wake: () => undefined }
  const platform = {
    pool: look,
    clock: { now: () => moment.at_ms, elapsed: () => 0, sleep: () => Promise.resolve() },
    log: { warn: () => undefined, error: () => undefined },
    storage: { failed: () => undefined },
  }
  return { platform, projections } as unknown as CommitDeps
}

const failure = (code: string): Error => Object.assign(new Error(code), { code, severity: 'FATAL' })

const wordOf = (outcome: ItemOutcome | undefined): string | undefined =>
  outcome?.kind === 'unavailable' ? outcome.reason : outcome?.kind
