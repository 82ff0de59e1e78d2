/**
 * The backup file: a format line, a manifest, tables as one zstd stream of `COPY` rows, and a SHA-256
 * (docs/decisions/backup.md).
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { OperatorError } from '../../lib/operator-error.ts'

const magic = 'POSTHORN BACKUP 1\n'
const trailerBytes = '\nsha256 '.length + 64 + 1
const manifestBytesMax = 4 * 1024 * 1024
const endOfRows = Buffer.from('\n\\.\n')

export interface PartitionDefinition {
  readonly name: string
  readonly of: string
  /** As PostgreSQL prints it: `FOR VALUES FROM ('…') TO ('…')`. */
  readonly bounds: string
  readonly options: readonly string[]
}

export interface Manifest {
  readonly program: string
  readonly created_at: string
  readonly account_id: string | null
  readonly migrations: readonly { readonly number: number; readonly name: string; readonly checksum: string }[]
  /** Verifies a secret key; not a secret itself. */
  readonly key_check: string
  readonly address_hash_key: string
  readonly partitions: readonly PartitionDefinition[]
}

export interface TableHead {
  readonly table: string
  readonly columns: readonly string[]
}

export const headText = (manifest: Manifest): string => `${magic}${JSON.stringify(manifest)}\n`

export const tableText = (head: TableHead): string => `${JSON.stringify(head)}\n`

export const tableEnd = '\\.\n'

export const trailerText = (digest: string): string => `\nsha256 ${digest}\n`

export interface CheckedFile {
  readonly manifest: Manifest
  readonly from: number
  readonly to: number
}

/** Throws `OperatorError` for a truncated, modified or foreign file. */
export async function checkFile(path: string, onProgress: (bytes: number, of: number) => void): Promise<CheckedFile> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      error.code === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read: ${error.message}.`,
    )
  })
  try {
    const stats = await file.stat()
    if (stats.isDirectory()) throw new OperatorError(`${path} is a folder: name the file in it.`)
    const { size } = stats
    const { manifest, from } = await readHead(file, path)
    const to = size - trailerBytes
    if (to < from) throw damaged(path)
    const found = await digestOf(path, to, (bytes) => onProgress(bytes, size))
    const trailer = Buffer.alloc(trailerBytes)
    await file.read(trailer, 0, trailerBytes, to)
    if (trailer.toString('latin1') !== trailerText(found)) throw damaged(path)
    return { manifest, from, to }
  } finally {
    await file.close()
  }
}

const damaged = (path: string): OperatorError =>
  new OperatorError(
    `${path} is cut or was changed: its checksum does not fit. Nothing was written. Take another copy of it.`,
  )

async function readHead(file: FileHandle, path: string): Promise<{ manifest: Manifest; from: number }> {
  const buffer = Buffer.alloc(manifestBytesMax)
  const { bytesRead } = await file.read(buffer, 0, manifestBytesMax, 0)
  const head = buffer.subarray(0, bytesRead)
  if (!head.subarray(0, magic.length).equals(Buffer.from(magic))) {
    const [kind] = head.subarray(0, magic.length).toString('latin1').split('\n')
    throw new OperatorError(
      kind?.startsWith('POSTHORN BACKUP ') === true
        ? `${path} was written by a newer version of the program, in a format that this one does not know. Start the newer version.`
        : `${path} is no backup: make one with \`posthorn backup FILE\`.`,
    )
  }
  const end = head.indexOf('\n', magic.length)
  if (end === -1) throw damaged(path)
  try {
    return { manifest: JSON.parse(head.subarray(magic.length, end).toString()) as Manifest, from: end + 1 }
  } catch {
    throw damaged(path)
  }
}

async function digestOf(path: string, bytes: number, onProgress: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256')
  let done = 0
  for await (const chunk of createReadStream(path, {
    end: bytes - 1,
    highWaterMark: 1024 * 1024,
  }) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    done += chunk.length
    onProgress(done)
  }
  return hash.digest('hex')
}

export interface TableSink {
  write(rows: Buffer): Promise<void>
  end(): Promise<void>
}

export async function readTables(
  unpacked: AsyncIterable<Buffer>,
  begin: (head: TableHead) => Promise<TableSink>,
): Promise<void> {
  let buffered: Buffer = Buffer.alloc(0)
  let sink: TableSink | undefined
  // also the line break after the head, because a table without rows ends at once
  let skips = 0
  const forward = async (to: number) => {
    if (to > skips) await sink!.write(buffered.subarray(skips, to))
    skips = Math.max(0, skips - to)
    buffered = buffered.subarray(to)
  }
  for await (const chunk of unpacked) {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
    for (;;) {
      if (sink === undefined) {
        const end = buffered.indexOf('\n')
        if (end === -1) break
        sink = await begin(JSON.parse(buffered.subarray(0, end).toString()) as TableHead)
        buffered = buffered.subarray(end)
        skips = 1
      }
      const end = buffered.indexOf(endOfRows)
      if (end === -1) {
        await forward(Math.max(0, buffered.length - endOfRows.length + 1))
        break
      }
      await forward(end + 1)
      await sink.end()
      sink = undefined
      buffered = buffered.subarray(endOfRows.length - 1)
    }
  }
  if (sink !== undefined || buffered.length > 0) throw new Error('the stream of tables ends in the middle of one')
}
