/**
 * Recovers failed commits: splits batches after data errors, repeats them after races, looks for messages after a lost
 * connection.
 */
import {
  connectionLost,
  isUnreachable,
  neverSent,
  refusesWrites,
  wasCancelled,
} from '../../../platform/database/failures.ts'
import { sqlState, transact } from '../../../platform/database/sql.ts'
import type { MessageRow } from '../message.ts'
import { findMessages } from '../repository.ts'
import type { CommitDeps } from './acceptance.ts'
import { acceptUnderLocks } from './acceptance.ts'
import { insertMessages } from './repository.ts'
import type { Moment } from './row.ts'
import { answer, isDecided, type ItemOutcome, reject, undecided, type Unit } from './submission.ts'

export type Path = (deps: CommitDeps, units: readonly Unit[], moment: Moment) => Promise<void>

const repeatsMax = 8
const lookupsMax = 20
const lookupForMs = 5_000
const lookupEveryMs = 250

/** Leaves no unit undecided that this path can decide. */
export async function recovering(deps: CommitDeps, units: readonly Unit[], moment: Moment, path: Path): Promise<void> {
  await repeating(deps, units, moment, path, repeatsMax)
}

async function repeating(
  deps: CommitDeps,
  units: readonly Unit[],
  moment: Moment,
  path: Path,
  repeats: number,
): Promise<void> {
  let open = units
  for (let repeat = 0; open.length > 0; repeat++) {
    try {
      return await path(deps, open, moment)
    } catch (error) {
      const state = sqlState(error)
      const raced = state === '40001' || state === '40P01'
      if (!raced && state !== undefined && /^2[23]/.test(state))
        return await afterDataError(deps, open, moment, path, error)
      deps.platform.storage.failed(error)
      if (!raced && (refusesWrites(error) || wasCancelled(error))) return markUnavailable(open)
      if (!raced && !isUnreachable(error)) throw error
      if (!raced) await afterLostConnection(deps, open, error)
      open = open.filter((unit) => !isDecided(unit))
      if (repeat < (raced ? repeats : repeatsMax) || open.length === 0) continue
      if (!raced || open.length === 1) throw error
      return await splitConflicting(deps, open, moment, path)
    }
  }
}

/** Halves the batch until units that want the same producer row are apart. */
async function splitConflicting(deps: CommitDeps, units: readonly Unit[], moment: Moment, path: Path): Promise<void> {
  const half = Math.ceil(units.length / 2)
  for (const part of [units.slice(0, half), units.slice(half)])
    await repeating(deps, part, moment, path, part.length === 1 ? repeatsMax : 0)
}

/** Halves the batch until the bad unit is alone, then refuses only its rejected rows. */
async function afterDataError(
  deps: CommitDeps,
  units: readonly Unit[],
  moment: Moment,
  path: Path,
  error: unknown,
): Promise<void> {
  const [only] = units
  if (units.length > 1) {
    const half = Math.ceil(units.length / 2)
    await recovering(deps, units.slice(0, half), moment, path)
    return await recovering(deps, units.slice(half), moment, path)
  }
  if (only === undefined) return
  // an earlier attempt may have been committed although its connection was lost
  const found = await findStored(deps, [only])
  if (isDecided(only)) return
  const poisoned = await poisonedRows(deps, only, moment)
  // no row is to blame, so a repeat would fail again
  if (!found && poisoned.length === 0) throw error
  if (poisoned.length > 0)
    deps.platform.log.warn(
      { err: error, messages: poisoned },
      'the database rejected a message, which was refused on its own',
    )
  await recovering(deps, [only], moment, acceptUnderLocks)
}

/** In a transaction that is rolled back. Resolves to the ids of rejected rows. */
async function poisonedRows({ platform, projections }: CommitDeps, unit: Unit, moment: Moment): Promise<string[]> {
  const rolledBack = new Error('rolled back')
  const found: string[] = []
  for (const { row } of undecided([unit]).filter((one) => !one.row.poisoned)) {
    await transact(platform.pool, async (tx) => {
      const paid = { contact_id: null, billing_source: 'wallet', amount_micros: 0, package_grant_id: null } as const
      await insertMessages(tx, projections, [{ ...row, ...paid }], moment.at)
      throw rolledBack
    }).catch((error: unknown) => {
      if (error === rolledBack) return
      if (!/^2[23]/.test(sqlState(error) ?? '')) throw error
      row.poisoned = true
      found.push(row.id)
    })
  }
  return found
}

/** Messages found are accepted, the others repeated. If the database stays away, units are answered as uncertain. */
async function afterLostConnection(deps: CommitDeps, units: readonly Unit[], error: unknown): Promise<void> {
  if (connectionLost(error) && !neverSent(error)) for (const unit of units) unit.mayBeStored = true
  if (!units.some(({ mayBeStored }) => mayBeStored)) return markUnavailable(units)
  const { clock } = deps.platform
  const until = clock.elapsed() + lookupForMs
  for (let attempt = 0; attempt < lookupsMax && clock.elapsed() < until; attempt++) {
    try {
      await findStored(deps, units)
      return
    } catch (again) {
      if (!isUnreachable(again) && !wasCancelled(again)) throw again
      await clock.sleep(lookupEveryMs)
    }
  }
  deps.platform.log.error(
    { err: error },
    'the connection to the database was lost during a commit and could not be restored',
  )
  markUnavailable(units)
}

/** A rejection promises that nothing was stored; units that may be stored are answered as uncertain. */
export function endFailed(units: readonly Unit[], error: unknown): void {
  for (const unit of units) {
    unit.mayBeStored ||= unit.outcomes.some((outcome) => outcome?.kind === 'accepted')
    if (!unit.mayBeStored) {
      reject(unit, error)
      continue
    }
    markUnavailable([unit])
    answer(unit, unit.outcomes as ItemOutcome[])
  }
}

function markUnavailable(units: readonly Unit[]): void {
  for (const { unit, index } of undecided(units))
    unit.outcomes[index] = { kind: 'unavailable', reason: unit.mayBeStored ? 'uncertain' : 'unreachable' }
}

async function findStored({ platform: { pool } }: CommitDeps, units: readonly Unit[]): Promise<boolean> {
  const places = undecided(units)
  const stored = new Map<string, MessageRow>()
  for (const group of Map.groupBy(places, ({ row }) => `${row.account_id}|${row.mode}`).values()) {
    const { account_id, mode } = group[0]!.row
    const ids = group.map(({ row }) => row.id)
    for (const message of await findMessages(pool, { account_id: account_id as `acc_${string}`, mode }, ids))
      stored.set(message.id, message)
  }
  let found = false
  for (const { unit, row, index } of places) {
    const message = stored.get(row.id)
    if (message === undefined) continue
    unit.outcomes[index] = { kind: 'accepted', row: message }
    found = true
  }
  return found
}
