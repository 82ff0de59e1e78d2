/**
 * Decides when bulk traffic commits and how much (docs/decisions/producers.md). Milliseconds of the monotonic clock.
 */
import { limits } from '../../../api/limits.ts'

/** How long a chunk may hold the wallet. */
const chunkMs = 4
const chunkRowsMin = 32
const chunkRowsFirst = 100
/** Times the duration of a chunk, while others want the wallet. */
const idleFactor = 6
/** After a large batch of requests, expect more for this long. */
const busyForMs = 30
const fillMs = 10

interface Contention {
  readonly rows: number
  readonly requestsWait: boolean
  /** No other process accepts or sends. */
  readonly alone: boolean
}

export class BulkPace {
  #chunkRows = chunkRowsFirst
  #idleUntil = 0
  #fillsUntil = 0
  #busyUntil = 0

  get chunkRows(): number {
    return this.#chunkRows
  }

  earliestStart(now: number, { rows, requestsWait, alone }: Contention): number {
    const wanted = requestsWait || !alone || now < this.#busyUntil
    return Math.max(wanted ? this.#idleUntil : 0, rows < this.#chunkRows ? this.#fillsUntil : 0)
  }

  rowsArrived(now: number): void {
    this.#fillsUntil = now + fillMs
  }

  requestsCommitted(now: number): void {
    this.#busyUntil = now + busyForMs
  }

  chunkCommitted(rows: number, began: number, ended: number): void {
    const duration = ended - began
    this.#idleUntil = began + duration * (1 + idleFactor)
    if (rows * 2 > this.#chunkRows) this.#chunkRows = nextChunkRows(rows, duration)
  }
}

/** Approaches the number of rows that takes `chunkMs`, at most doubling or halving. */
function nextChunkRows(rows: number, duration: number): number {
  const wanted = (rows * chunkMs) / Math.max(duration, 0.1)
  return Math.round(Math.min(Math.max(wanted, rows / 2, chunkRowsMin), rows * 2, limits.group_commit_rows_max))
}
