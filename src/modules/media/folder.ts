/** Files under the data folder: each is written to `incoming` first, and moved to its place when it is whole. */
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../lib/make-folder.ts'
import { PermanentError } from '../../lib/permanent-error.ts'
import { NotKept, type Storage } from './storage.ts'

/** So much of the disk stays free: a database may live on it. */
const freeBytesMin = 512 * 1024 * 1024

/** What is on its way here: written by one process each. */
export interface Incoming {
  /** Writes a file piece by piece, flushed to the disk at its end. Rejects with a PermanentError beyond `bytes_max`, and leaves nothing behind then. */
  write(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    bytes_max: number,
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly bytes: number }>
  discard(path: string): Promise<void>
  /** The ids of files that somebody began to write. */
  list(): Promise<readonly { readonly id: string; readonly path: string }[]>
}

export function incomingFolder(data_dir: string, process_id: string): Incoming {
  const folder = join(data_dir, 'media', 'incoming')
  const writer = process_id.replaceAll(/[^\w-]/g, '-')
  return {
    async write(id, chunks, bytes_max, signal) {
      await makeFolder(folder)
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize < freeBytesMin) throw new Error('The disk of the data folder is nearly full.')
      const path = join(folder, `${id}.${writer}`)
      const file = await open(path, 'w', 0o600)
      try {
        let bytes = 0
        for await (const chunk of chunks) {
          signal.throwIfAborted()
          bytes += chunk.length
          if (bytes > bytes_max) throw new PermanentError(`The file is longer than ${bytes_max} bytes.`)
          await writeAll(file, chunk)
        }
        signal.throwIfAborted()
        await file.sync()
        await file.close()
        return { path, bytes }
      } catch (error) {
        await file.close().catch(() => undefined)
        await rm(path, { force: true })
        throw error
      }
    },
    discard: (path) => rm(path, { force: true }),
    async list() {
      const names = await readdir(folder).catch(emptyWhereMissing)
      return names.map((name) => ({ id: name.split('.', 1)[0]!, path: join(folder, name) }))
    },
  }
}

async function writeAll(file: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) written += (await file.write(chunk, written)).bytesWritten
}

export function folderStorage(data_dir: string): Storage {
  // the last characters of an id are random, the first ones its time
  const folderOf = (id: string) => join(data_dir, 'media', id.slice(-2))
  const pathOf = (id: string) => join(folderOf(id), id)
  return {
    name: 'folder',
    bucket: null,
    async keep(id, path) {
      await makeFolder(folderOf(id))
      await rename(path, pathOf(id))
      const folder = await open(folderOf(id))
      await folder.sync().finally(() => folder.close())
    },
    async read(id, { first, last }) {
      const path = pathOf(id)
      await stat(path).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new NotKept(id) : error
      })
      return createReadStream(path, { start: first, end: last, highWaterMark: 64 * 1024 })
    },
    remove: (id) => rm(pathOf(id), { force: true }),
    close: async () => undefined,
  }
}

function emptyWhereMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
