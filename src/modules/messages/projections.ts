/** Projections count messages of an origin from a row per transition (docs/decisions/transitions.md). */
import type { OriginType } from '../../api/resources/message.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { dequeueTransitions, type ProjectedOrigin, type TransitionRow } from './projections-repository.ts'

export type { TransitionRow } from './projections-repository.ts'

export interface Projection {
  /** Lower-case letters and hyphens. Renaming a projection loses pending rows. */
  readonly name: string
  readonly origins: readonly OriginType[]
  /**
   * Runs in the transaction that deletes the rows. They come in any order and concurrently: add sums (`from_status`
   * less, `status` more), raise statuses by `rankOf`, lock rows in the order of their keys.
   */
  apply(tx: Db, rows: readonly TransitionRow[]): Promise<void>
}

interface Projected {
  readonly origin_type: string
}

export interface Projections {
  readonly pairs: readonly ProjectedOrigin[]
  pairsOf(messages: readonly Projected[]): readonly ProjectedOrigin[]
  /** After the commit. */
  wake(messages: readonly Projected[]): void
}

const names = /^[a-z]+(-[a-z]+)*$/
/** Bounds of one batch. */
const rowsMax = 500
const messagesMax = 5000
const pauseMs = 250
/** A worker woken within this time polls again anyway. */
const wakeEveryMs = pauseMs / 2

/** Throws for repeated or invalid names. */
export function projectionsOf(
  { notify, clock }: Pick<Platform, 'notify' | 'clock'>,
  projections: readonly Projection[],
): Projections {
  for (const { name } of projections) if (!names.test(name)) throw new Error(`a projection cannot be called ${name}`)
  if (new Set(projections.map(({ name }) => name)).size < projections.length)
    throw new Error('two projections have one name')
  const pairs = projections.flatMap(({ name, origins }) =>
    origins.map((origin_type) => ({ projection: name, origin_type })),
  )
  /** By worker, on the monotonic clock. */
  const woken = new Map<string, number>()
  const pairsOf = (messages: readonly Projected[]) =>
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

const workerOf = (projection: string): string => `project-${projection}`

export const projectionWorker = ({ pool }: Pick<Platform, 'pool'>, projection: Projection): Worker => ({
  name: workerOf(projection.name),
  poll_every_ms: 1000,
  pause_ms: pauseMs,
  tick: () =>
    transact(pool, async (tx) => {
      const rows = await dequeueTransitions(tx, projection.name, { rows_max: rowsMax, messages_max: messagesMax })
      if (rows.length > 0) await projection.apply(tx, rows)
      return rows.length
    }),
})
