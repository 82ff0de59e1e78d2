/** Writes the pieces of an upload, several at once: they share the wait for the disk. */
import type { Piece } from './splitter.ts'

/** Pieces on their way at once: what memory holds of a file. */
const atOnce = 4

export interface PieceWriter {
  /** Starts to write a piece; resolves once there is room for the next. Rejects when one before could not be written. */
  write(piece: Piece, number: number): Promise<void>
  /** Resolves once nothing is on its way any more; with `done` rejects when a piece could not be written. Nothing is written afterwards. */
  close(done: boolean): Promise<void>
}

export function pieceWriter(store: (piece: Piece, number: number) => Promise<void>): PieceWriter {
  const writing = new Set<Promise<void>>()
  const failures: unknown[] = []
  let closed = false

  async function write(piece: Piece, number: number): Promise<void> {
    while (writing.size >= atOnce) await Promise.race(writing)
    if (failures.length > 0) throw failures[0]
    if (closed) throw new Error('a piece came after the end of its upload')
    const one: Promise<void> = store(piece, number)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => writing.delete(one))
    writing.add(one)
  }

  async function close(done: boolean): Promise<void> {
    closed = true
    await Promise.all(writing)
    if (done && failures.length > 0) throw failures[0]
  }

  return { write, close }
}
