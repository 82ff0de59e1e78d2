/** The accepting door: requests that arrive while a batch is being committed form the next one (architecture: "The hot path"). Answers 'accepted' only after the commit. */
import { limits } from '../../../contract/limits.ts'
import { Problem } from '../../../contract/problem.ts'
import type { MessageRow } from '../rows.ts'
import { pause } from '../../../lib/clock.ts'
import { connectionLost, neverSent } from '../../../platform/database/lost.ts'
import { sqlState, transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { BillingService } from '../../billing/service.ts'
import { acceptBatch, type AcceptRow } from './optimistic-store.ts'
import { acceptLocked, insertMessages, keyText, storeReplies, takeKeys } from './locking-store.ts'
import { findMessages } from '../store.ts'
import type { Followers } from '../transitions/followers.ts'
import {
  messageOf,
  momentAt,
  replyToStore,
  rowOf,
  type Handoff,
  type ItemOutcome,
  type Moment,
  type Pending,
  type Unit,
  type UnitOutcome,
} from './submission.ts'

export interface Door {
  /** Resolves once the unit is committed or refused; rejects when the database could not take it. */
  submit(unit: Unit): Promise<UnitOutcome>
  /** Resolves when nothing is in hand. */
  drained(): Promise<void>
}

const pendingRowsMax = 20_000
const repeatsMax = 8
const lookupsMax = 20

/**
 * A commit costs as much as a dozen messages, whatever it holds. After a batch of `busyRequests` the next one fills, while requests
 * keep coming, to `fullRequests` or until `spacing_ms` after that batch began (docs/decisions/accepting-door.md).
 */
const busyRequests = 8
const fullRequests = 24
const spacingMs = 6

/** `told` hears of every accepted message after its commit, and must not wait for anything. */
export function door(
  platform: Platform,
  billing: BillingService,
  followers: Followers,
  handoff: Handoff,
  told: (rows: readonly MessageRow[]) => void = () => undefined,
): Door {
  const { pool, clock, ids, log, metrics } = platform
  let queue: Pending[] = []
  let queuedRows = 0
  let running = false
  const idle: (() => void)[] = []

  function submit(unit: Unit): Promise<UnitOutcome> {
    if (queuedRows + unit.items.length > pendingRowsMax) {
      return Promise.reject(
        new Problem(
          'upstream_unavailable',
          'Too many messages are waiting to be stored. Repeat with backoff and the same Idempotency-Key; nothing was charged.',
        ),
      )
    }
    queuedRows += unit.items.length
    const promise = new Promise<UnitOutcome>((resolve, reject) => {
      queue.push({ unit, rows: [], outcomes: unit.items.map(() => undefined), resolve, reject, settled: false })
    })
    if (!running) {
      running = true
      setImmediate(() => void pump())
    }
    return promise
  }

  async function pump(): Promise<void> {
    while (queue.length > 0) {
      const began = performance.now()
      const batch = take()
      try {
        await commit(batch)
      } catch (error) {
        for (const pending of batch) settle(pending, () => pending.reject(error))
      }
      if (batch.length >= busyRequests) await filled(began + spacingMs)
    }
    running = false
    for (const resolve of idle.splice(0)) resolve()
  }

  /** Resolves when a batch is worth its commit: full, due, or nothing has come for a millisecond. */
  async function filled(due: number): Promise<void> {
    let waiting = -1
    while (queue.length < fullRequests && queue.length > waiting && performance.now() < due) {
      waiting = queue.length
      await pause(1)
    }
  }

  /** The next units, at most 500 rows of them; a unit is never parted. */
  function take(): Pending[] {
    let rows = 0
    let count = 0
    while (count < queue.length && (count === 0 || rows + queue[count]!.unit.items.length <= limits.group_commit_rows_max))
      rows += queue[count++]!.unit.items.length
    const batch = queue.slice(0, count)
    queue = queue.slice(count)
    queuedRows -= rows
    return batch
  }

  async function commit(batch: readonly Pending[]): Promise<void> {
    const moment = momentAt(clock.now(), handoff.lease_ms)
    let n = 0
    for (const pending of batch)
      pending.rows.push(...pending.unit.items.map((item) => rowOf(ids, billing.entryId, handoff, item, pending.unit.key, n++, moment)))
    metrics.group_commit_rows.observe(n)
    const quick = batch.filter((pending) => pending.unit.storedReply === undefined)
    const locked = batch.filter((pending) => pending.unit.storedReply !== undefined)
    if (quick.length > 0) await guarded(quick, moment, quickly)
    const uncovered = quick.filter((pending) => !pending.settled)
    if (uncovered.length + locked.length > 0) await guarded([...uncovered, ...locked], moment, underLocks)
  }

  /** Runs one path over units, and answers its failures: split at data errors, repeat at deadlocks, look up after a lost connection. */
  async function guarded(units: readonly Pending[], moment: Moment, path: (units: readonly Pending[], moment: Moment) => Promise<void>): Promise<void> {
    for (let repeat = 0; ; repeat++) {
      try {
        return await path(units, moment)
      } catch (error) {
        const state = sqlState(error)
        if (state === '40001' || state === '40P01') {
          if (repeat < repeatsMax) continue
          throw error
        }
        if (state !== undefined && /^2[23]/.test(state)) return await afterDataError(units, moment, path, error)
        if (!(await recovered(units, moment, error))) throw connectionLost(error) ? uncertain(error) : error
        units = units.filter((pending) => !pending.settled)
        if (units.length === 0) return
        if (repeat >= repeatsMax) throw error
      }
    }
  }

  async function afterDataError(
    units: readonly Pending[],
    moment: Moment,
    path: (units: readonly Pending[], moment: Moment) => Promise<void>,
    error: unknown,
  ): Promise<void> {
    const [only] = units
    if (units.length > 1) {
      const half = Math.ceil(units.length / 2)
      await guarded(units.slice(0, half), moment, path)
      return await guarded(units.slice(half), moment, path)
    }
    if (only === undefined) return
    if (await alreadyStored([only])) return
    const poisoned = await poisonedRows(only, moment)
    if (poisoned.size === 0) throw error
    log.warn({ err: error, messages: [...poisoned] }, 'a message broke a rule of the database and was refused alone')
    only.rows.forEach((row, index) => {
      if (poisoned.has(row.id)) only.outcomes[index] = { kind: 'refused', code: 'parameter_invalid' }
    })
    await guarded([only], moment, underLocks)
  }

  /** The ids of rows that the database refuses by themselves, each tried in a transaction that is taken back. */
  async function poisonedRows(pending: Pending, moment: Moment): Promise<Set<string>> {
    const poisoned = new Set<string>()
    const takenBack = new Error('taken back')
    for (const row of pending.rows.filter((_, index) => pending.outcomes[index] === undefined)) {
      await transact(pool, async (tx) => {
        await insertMessages(tx, followers, [{ ...row, contact_id: null, billing_source: 'wallet', amount_micros: 0, package_grant_id: null }], moment.at)
        throw takenBack
      }).catch((error: unknown) => {
        if (error !== takenBack && /^2[23]/.test(sqlState(error) ?? '')) poisoned.add(row.id)
        else if (error !== takenBack) throw error
      })
    }
    return poisoned
  }

  /** Nobody knows whether the batch was committed, and nobody can be asked. */
  function uncertain(error: unknown): Problem {
    log.error({ err: error }, 'the database went away during a commit and stayed away')
    return new Problem(
      'internal_error',
      'The database went away while the message was being stored. It may have been accepted: repeat with the same Idempotency-Key, or look for it.',
    )
  }

  /** After a failure of the connection: true when the units may be tried again, those that had been committed being answered. */
  async function recovered(units: readonly Pending[], moment: Moment, error: unknown): Promise<boolean> {
    if (!connectionLost(error)) return false
    if (neverSent(error))
      throw new Problem(
        'upstream_unavailable',
        'The service cannot store messages right now. Repeat with backoff and the same Idempotency-Key; nothing was charged.',
      )
    for (let attempt = 0; attempt < lookupsMax; attempt++) {
      try {
        await alreadyStored(units, moment)
        return true
      } catch (again) {
        if (!connectionLost(again)) throw again
        await clock.sleep(250)
      }
    }
    return false
  }

  /** Answers the units whose messages stand in the database; true when there was one. */
  async function alreadyStored(units: readonly Pending[], moment = momentAt(clock.now(), handoff.lease_ms)): Promise<boolean> {
    const tenants = Map.groupBy(
      units.flatMap((pending) => pending.rows),
      (row) => `${row.account_id}|${row.mode}`,
    )
    const stored = new Map<string, MessageRow>()
    for (const rows of tenants.values()) {
      const tenant = { account_id: rows[0]!.account_id as `acc_${string}`, mode: rows[0]!.mode as 'live' | 'test' }
      for (const row of await findMessages(
        pool,
        tenant,
        rows.map(({ id }) => id),
      ))
        stored.set(row.id, row)
    }
    for (const pending of units) {
      pending.rows.forEach((row, index) => {
        const found = stored.get(row.id)
        if (found !== undefined) pending.outcomes[index] = { kind: 'accepted', row: found }
      })
      if (pending.outcomes.every((outcome) => outcome !== undefined) && pending.rows.length > 0) finish(pending, moment)
    }
    return stored.size > 0
  }

  async function quickly(units: readonly Pending[], moment: Moment): Promise<void> {
    const places = new Map<number, { pending: Pending; index: number }>()
    const rows: AcceptRow[] = []
    for (const pending of units) {
      pending.rows.forEach((row, index) => {
        if (pending.outcomes[index] !== undefined) return
        places.set(row.n, { pending, index })
        rows.push(row)
      })
    }
    for (const { n, verdict, contact_id, package_grant_id } of await acceptBatch(pool, followers, rows, moment.at, moment.key_cutoff, moment.low_cutoff)) {
      const { pending, index } = places.get(n)!
      const row = pending.rows[index]!
      if (verdict === 'known') settle(pending, () => pending.resolve({ kind: 'known' }))
      else if (verdict === 'accepted')
        pending.outcomes[index] = {
          kind: 'accepted',
          row: messageOf(
            row,
            contact_id,
            package_grant_id === null ? 'wallet' : 'package',
            package_grant_id === null ? row.price : 0,
            package_grant_id,
            moment.at,
          ),
        }
      // a keyed refusal is stored with its key, which the locking path does
      else if (verdict !== 'uncovered' && pending.unit.key === undefined) pending.outcomes[index] = { kind: 'refused', code: verdict }
    }
    for (const pending of units) if (pending.outcomes.every((outcome) => outcome !== undefined)) finish(pending, moment)
  }

  async function underLocks(units: readonly Pending[], moment: Moment): Promise<void> {
    const decided = await transact(pool, async (tx) => {
      const keys = units.flatMap(({ unit }) => (unit.key === undefined ? [] : [unit.key]))
      const free = await takeKeys(tx, keys, moment.at, moment.key_cutoff)
      const open = units.filter(({ unit }) => unit.key === undefined || free.has(keyText(unit.key)))
      const rows = open.flatMap((pending) => pending.rows.filter((_, index) => pending.outcomes[index] === undefined))
      const locked = await acceptLocked(tx, billing, followers, rows, moment.at)
      const byN = new Map(rows.map((row, index) => [row.n, locked[index]!]))
      const outcomes = new Map(
        open.map((pending) => [
          pending,
          pending.rows.map((row, index): ItemOutcome => {
            const outcome = byN.get(row.n)
            if (outcome === undefined) return pending.outcomes[index]!
            if (outcome.kind === 'refused') return outcome
            const { source, amount_micros, package_grant_id } = outcome.charge
            return { kind: 'accepted', row: messageOf(row, outcome.contact_id, source, amount_micros, package_grant_id, moment.at) }
          }),
        ]),
      )
      await storeReplies(
        tx,
        open.flatMap((pending) => (pending.unit.key === undefined ? [] : [{ ...pending.unit.key, ...replyToStore(pending.unit, outcomes.get(pending)!) }])),
      )
      return outcomes
    })
    for (const pending of units) {
      const outcomes = decided.get(pending)
      if (outcomes === undefined) settle(pending, () => pending.resolve({ kind: 'known' }))
      else {
        outcomes.forEach((outcome, index) => (pending.outcomes[index] = outcome))
        finish(pending, moment)
      }
    }
  }

  /** Answers a unit whose outcomes are all known and committed, and hands its messages on. */
  function finish(pending: Pending, moment: Moment): void {
    settle(pending, () => {
      const accepted = pending.outcomes.flatMap((outcome) => (outcome?.kind === 'accepted' ? [outcome.row] : []))
      for (const row of accepted) metrics.messages_accepted.inc({ channel_type: row.channel_type, mode: row.mode })
      const mine = new Set(pending.rows.filter((row) => row.process_id === handoff.process_id).map(({ id }) => id))
      const inMemory = mine.size === 0 ? [] : accepted.filter(({ id }) => mine.has(id))
      if (inMemory.length > 0) handoff.offer(inMemory, moment.lease_until_ms)
      if (accepted.length > inMemory.length) platform.notify('dispatch')
      followers.wake(accepted)
      told(accepted)
      pending.resolve({ kind: 'done', items: pending.outcomes as ItemOutcome[] })
    })
  }

  function settle(pending: Pending, answer: () => void): void {
    if (pending.settled) return
    pending.settled = true
    answer()
  }

  return { submit, drained: () => (running ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()) }
}
