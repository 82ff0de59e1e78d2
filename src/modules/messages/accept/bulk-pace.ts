/** When bulk goes, and how much of it at a time, so that nobody waits for it long (docs/decisions/producers.md). Times are those of the machine, in milliseconds. Pure. */
import { limits } from '../../../api/limits.ts'

/** A piece of bulk holds the wallet for about this long; everybody else's commits wait behind it. */
const pieceMs = 4
/** Fewer would be all fixed cost: on a machine that is busy with other things every piece takes long, whatever it holds. */
const pieceRowsMin = 32
const pieceRowsFirst = 100
/**
 * After a piece bulk rests as many times as long as the piece took, where others want the wallet: other processes, whose commits get their turn, or requests of this one that
 * come one batch after the other. Beside nobody it does not rest.
 */
const restFactor = 6
/** Requests that came in a batch that was not small are expected to go on so long. */
const busyForMs = 30
/** What is less than a piece waits so long for more to share its commit with: nobody waits for it. */
const fillMs = 10

/** Who is about. */
interface Company {
  /** Rows of bulk that wait. */
  readonly rows: number
  readonly requestsWait: boolean
  /** No other process takes requests or works. */
  readonly alone: boolean
}

export class BulkPace {
  #pieceRows = pieceRowsFirst
  #restsUntil = 0
  #fillsUntil = 0
  #busyUntil = 0

  /** Rows of the next piece. */
  get pieceRows(): number {
    return this.#pieceRows
  }

  /** When the next piece may go. */
  from(now: number, { rows, requestsWait, alone }: Company): number {
    const wanted = requestsWait || !alone || now < this.#busyUntil
    return Math.max(wanted ? this.#restsUntil : 0, rows < this.#pieceRows ? this.#fillsUntil : 0)
  }

  /** Something comes where nothing waited. */
  begins(now: number): void {
    this.#fillsUntil = now + fillMs
  }

  /** Requests came in a batch that was not small. */
  requestsCame(now: number): void {
    this.#busyUntil = now + busyForMs
  }

  /** A piece of so many rows was committed between these times. */
  committed(rows: number, began: number, ended: number): void {
    const took = ended - began
    this.#restsUntil = began + took * (1 + restFactor)
    // a piece that was not full tells little about a full one
    if (rows * 2 > this.#pieceRows) this.#pieceRows = nextPieceRows(rows, took)
  }
}

/** So many rows that the next piece takes `pieceMs`, approached by halves and doubles. */
function nextPieceRows(rows: number, took: number): number {
  const wanted = (rows * pieceMs) / Math.max(took, 0.1)
  return Math.round(Math.min(Math.max(wanted, rows / 2, pieceRowsMin), rows * 2, limits.group_commit_rows_max))
}
