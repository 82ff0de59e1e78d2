/** Writes chunks of an upload concurrently, so that they share the wait for the disk. */
import type { Chunk } from './splitter.ts'

const atOnce = 4

export interface ChunkWriter {
  write(chunk: Chunk, number: number): Promise<void>
  /** Waits for writes in progress; with `done` rejects when one failed. */
  close(done: boolean): Promise<void>
}

export function chunkWriter(store: (chunk: Chunk, number: number) => Promise<void>): ChunkWriter {
  const writing = new Set<Promise<void>>()
  const failures: unknown[] = []
  let closed = false

  async function write(chunk: Chunk, number: number): Promise<void> {
    while (writing.size >= atOnce) await Promise.race(writing)
    if (failures.length > 0) throw failures[0]
    if (closed) throw new Error('a chunk came after the end of its upload')
    const one: Promise<void> = store(chunk, number)
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
