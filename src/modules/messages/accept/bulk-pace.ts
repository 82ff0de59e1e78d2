/**
 * Decides when bulk traffic commits and how much (docs/decisions/producers.md). Milliseconds by the monotonic clock.
 */
import { limits } from '../../../api/limits.ts'

/** How long a chunk holds the wallet. */
const pieceMs = 4
/** Smaller chunks would be all fixed cost. */
const pieceRowsMin = 32
const pieceRowsFirst = 100
/** Idle time after a chunk, as a multiple of its duration, where others want the wallet. */
const restFactor = 6
/** After a large batch of requests, more are expected for this long. */
const busyForMs = 30
const fillMs = 10

interface Company {
  /** Waiting bulk rows. */
  readonly rows: number
  readonly requestsWait: boolean
  /** No other process accepts or sends. */
  readonly alone: boolean
}

export class BulkPace {
  #pieceRows = pieceRowsFirst
  #restsUntil = 0
  #fillsUntil = 0
  #busyUntil = 0

  /** Rows of the next chunk. */
  get pieceRows(): number {
    return this.#pieceRows
  }

  /** When the next chunk may start. */
  from(now: number, { rows, requestsWait, alone }: Company): number {
    const wanted = requestsWait || !alone || now < this.#busyUntil
    return Math.max(wanted ? this.#restsUntil : 0, rows < this.#pieceRows ? this.#fillsUntil : 0)
  }

  /** Rows arrive while none waited. */
  begins(now: number): void {
    this.#fillsUntil = now + fillMs
  }

  /** A batch of requests was not small. */
  requestsCame(now: number): void {
    this.#busyUntil = now + busyForMs
  }

  /** A chunk was committed between these times. */
  committed(rows: number, began: number, ended: number): void {
    const took = ended - began
    this.#restsUntil = began + took * (1 + restFactor)
    if (rows * 2 > this.#pieceRows) this.#pieceRows = nextPieceRows(rows, took)
  }
}

/** Approaches the number of rows that takes `pieceMs`, at most doubling or halving it. */
function nextPieceRows(rows: number, took: number): number {
  const wanted = (rows * pieceMs) / Math.max(took, 0.1)
  return Math.round(Math.min(Math.max(wanted, rows / 2, pieceRowsMin), rows * 2, limits.group_commit_rows_max))
}
