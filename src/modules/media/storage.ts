/** Storage of files: the interface and the data folder. Files are written to `incoming` and moved when complete. */
import type { Readable } from 'node:stream'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Range } from '../../platform/http/file-routes.ts'
import { makeFolder } from '../../lib/system.ts'
import { PermanentError } from '../../lib/http-client.ts'

export interface Storage {
  readonly name: 'folder' | 's3'
  /** null for the folder. */
  readonly bucket: string | null
  /** Durable. Replaces an existing file; may move the one at `path`. */
  store(id: string, path: string, bytes: number, content_type: string, signal: AbortSignal): Promise<void>
  /** Rejects with a FileMissing if it does not exist. */
  read(id: string, range: Range, signal: AbortSignal): Promise<Readable>
  /** Succeeds if it does not exist. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}

export class FileMissing extends Error {
  constructor(id: string) {
    super(`the file ${id} is missing in its storage`)
  }
}

/** Stays free, since a database may be on the same disk. */
const freeBytesMin = 512 * 1024 * 1024

export interface Incoming {
  /** Syncs the file. On failure nothing is left behind; beyond `bytes_max` it rejects with a PermanentError. */
  write(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    bytes_max: number,
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly bytes: number }>
  discard(path: string): Promise<void>
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
      const names = await readdir(folder).catch(emptyIfMissing)
      return names.map((name) => ({ id: name.split('.', 1)[0]!, path: join(folder, name) }))
    },
  }
}

async function writeAll(file: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) written += (await file.write(chunk, written)).bytesWritten
}

export function folderStorage(data_dir: string): Storage {
  // the last characters of an ID are random, so files spread over the folders
  const folderOf = (id: string) => join(data_dir, 'media', id.slice(-2))
  const pathOf = (id: string) => join(folderOf(id), id)
  return {
    name: 'folder',
    bucket: null,
    async store(id, path) {
      await makeFolder(folderOf(id))
      await rename(path, pathOf(id))
      const folder = await open(folderOf(id))
      await folder.sync().finally(() => folder.close())
    },
    async read(id, { first, last }) {
      const path = pathOf(id)
      await stat(path).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new FileMissing(id) : error
      })
      return createReadStream(path, { start: first, end: last, highWaterMark: 64 * 1024 })
    },
    remove: (id) => rm(pathOf(id), { force: true }),
    close: async () => undefined,
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
