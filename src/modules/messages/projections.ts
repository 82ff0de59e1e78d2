/**
 * Projections: who counts or continues by what becomes of messages of some origin (a campaign its recipients, an automation its runs). Every path
 * that changes a status writes a row for each projection of the message's origin; a worker of the projection's own folds the rows.
 * See docs/decisions/transitions.md.
 */
import type { OriginType } from '../../api/resources/message.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { takeTransitions, type FollowedOrigin, type TransitionRow } from './projections-repository.ts'

export type { TransitionRow } from './projections-repository.ts'

export interface Projection {
  /** Lower-case letters and hyphens; its worker is `follow-<name>`. It is written into rows: renaming a projection loses those not folded yet. */
  readonly name: string
  /** The kinds of origin whose messages it follows. */
  readonly origins: readonly OriginType[]
  /**
   * Adds what these rows tell to the projection's own tables, in the transaction `tx` that also removes them: each row is folded exactly once. Rows come in any order, and
   * several processes fold different rows at a time: sums add (`was` less, `status` more), what an item has come to is raised by `rankOf` alone,
   * and rows of the projection are locked in the order of their keys. No network, no other feature's tables.
   */
  fold(tx: Db, rows: readonly TransitionRow[]): Promise<void>
}

/** What of a message tells whether it is followed. */
interface Followed {
  readonly origin_type: string
}

export interface Projections {
  /** Each projection with each origin kind that it follows. */
  readonly pairs: readonly FollowedOrigin[]
  /** Those of `pairs` that follow one of these messages; where there is none a statement pays nothing. */
  pairsOf(messages: readonly Followed[]): readonly FollowedOrigin[]
  /** Wakes the workers of those who follow one of these messages; after the commit that changed them. */
  wake(messages: readonly Followed[]): void
}

const names = /^[a-z]+(-[a-z]+)*$/
/** A fold is a transaction of its own: many messages at a time, some times a second. What is not folded yet counts in every poll. */
const rowsMax = 500
const messagesMax = 5000
const foldEveryMs = 250
/** Whoever is woken folds, rests, and looks again: what comes within half of the rest is found then without being told. */
const wakeEveryMs = foldEveryMs / 2

/** Refuses names that are written twice or cannot name a worker. */
export function projectionsOf(
  { notify, clock }: Pick<Platform, 'notify' | 'clock'>,
  given: readonly Projection[],
): Projections {
  for (const { name } of given) if (!names.test(name)) throw new Error(`a projection cannot be called ${name}`)
  if (new Set(given.map(({ name }) => name)).size < given.length) throw new Error('two projections have one name')
  const pairs = given.flatMap(({ name, origins }) => origins.map((origin_type) => ({ projection: name, origin_type })))
  /** When each worker was woken last, by the elapsed time. */
  const woken = new Map<string, number>()
  const pairsOf = (messages: readonly Followed[]) =>
    pairs.filter((pair) => messages.some(({ origin_type }) => origin_type === pair.origin_type))
  return {
    pairs,
    pairsOf,
    wake(messages) {
      const now = clock.elapsed()
      const workers = new Set(pairsOf(messages).map(({ projection }) => workerOf(projection)))
      for (const worker of workers) if (now - (woken.get(worker) ?? -Infinity) < wakeEveryMs) workers.delete(worker)
      for (const worker of workers) woken.set(worker, now)
      if (workers.size > 0) notify(...workers)
    },
  }
}

const workerOf = (projection: string): string => `follow-${projection}`

/** Folds the rows of one projection, and removes them in the same transaction. */
export const projectionWorker = ({ pool }: Pick<Platform, 'pool'>, projection: Projection): Worker => ({
  name: workerOf(projection.name),
  idle_ms: 1000,
  rest_ms: foldEveryMs,
  tick: () =>
    transact(pool, async (tx) => {
      const rows = await takeTransitions(tx, projection.name, { rows_max: rowsMax, messages_max: messagesMax })
      if (rows.length > 0) await projection.fold(tx, rows)
      return rows.length
    }),
})
