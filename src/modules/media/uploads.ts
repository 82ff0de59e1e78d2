/** Uploads of files to be linked in messages (behaviour: channels 8.8). */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Caller } from '../../api/caller.ts'
import { invalid, Problem } from '../../api/problem.ts'
import type { UploadedMedia } from '../../api/resources/uploaded-media.ts'
import { isoTime, withDeadline } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import { formOverhead, isForm, readForm, receiving, unknownField } from '../../platform/http/form.ts'
import { canonicalFingerprint } from '../../platform/http/idempotency.ts'
import type { StoreReply, Reply } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'
import type { SignedUrls } from './signed-urls.ts'
import { bytesMaxOf, headBytes, acceptedExtensions, typeOfFile, uploadBytesMax, type FileType } from './file-types.ts'
import type { Incoming, Storage } from './storage.ts'
import * as store from './repository.ts'

const uploadMsMax = 30 * 60_000
const dayMs = 24 * 3600_000

export interface UploadDeps {
  readonly platform: Platform
  readonly addresses: SignedUrls
  readonly incoming: Incoming
  readonly storage: Storage
}

export type Uploads = ReturnType<typeof uploads>

export const uploads = (deps: UploadDeps) => ({
  receive: (sql: Db, caller: Caller, request: IncomingMessage, keep: StoreReply): Promise<Reply> =>
    withDeadline(deps.platform.clock, uploadMsMax, (signal) => receiveUpload(deps, sql, caller, request, keep, signal)),
  /** For a repeated upload, which is not stored; null if no file can be read. */
  async digest(request: IncomingMessage): Promise<string | null> {
    try {
      return await readUpload(request, async (_type, file_name, chunks, digest) => {
        for await (const chunk of chunks) void chunk
        return digest(file_name)
      })
    } catch (error) {
      if (error instanceof Problem) return null
      throw error
    }
  },
})

async function receiveUpload(
  deps: UploadDeps,
  sql: Db,
  caller: Caller,
  request: IncomingMessage,
  keep: StoreReply,
  signal: AbortSignal,
): Promise<Reply> {
  const { platform, storage, addresses } = deps
  return await readUpload(request, async ({ kind, content_type }, file_name, chunks, digest) => {
    const now = platform.clock.now()
    const id = platform.ids('med')
    const row = {
      account_id: caller.account_id,
      mode: caller.mode,
      id,
      kind,
      filename: file_name || null,
      store: storage.name,
      bucket: storage.bucket,
    }
    const announced = Number(request.headers['content-length'] ?? bytesMaxOf(kind))
    await transact(sql, async (tx) => {
      await store.lockUploads(tx, caller)
      const stored = await store.storedBytes(tx, caller, uploadBytesMax)
      requireCapacity(platform.settings.media_stored_bytes_max, stored, Math.min(announced, bytesMaxOf(kind)))
      await store.insertUpload(tx, { ...row, created_at: isoTime(now) })
    })
    try {
      const size = await storeFile(deps, id, content_type, chunks, signal)
      const expires_ms = Math.floor((now + platform.settings.media_retention_days * dayMs) / 1000) * 1000
      const body: UploadedMedia = {
        object: 'media_file',
        id,
        url: addresses.of(caller, id, expires_ms),
        type: kind,
        content_type,
        filename: row.filename,
        size,
        expires_at: isoTime(expires_ms),
      }
      const reply = { status: 201, body, digest: digest(file_name) }
      await transact(sql, async (tx) => {
        if (!(await store.completeUpload(tx, caller, id, content_type, size))) throw tooSlow()
        await keep(tx, reply)
      })
      return reply
    } catch (error) {
      // if this fails, the periodic job removes it
      await discard(deps, sql, id).catch((left: unknown) =>
        platform.log.warn(
          { err: left, media_id: id },
          'an incomplete upload could not be removed; it is removed later',
        ),
      )
      throw signal.aborted ? tooSlow() : error
    }
  })
}

async function storeFile(
  { platform, incoming, storage }: UploadDeps,
  id: string,
  content_type: string,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<number> {
  try {
    const { path, bytes } = await incoming.write(id, chunks, uploadBytesMax, signal)
    await storage.store(id, path, bytes, content_type, signal).finally(() => incoming.discard(path))
    return bytes
  } catch (error) {
    if (error instanceof Problem || signal.aborted) throw error
    platform.storage.failed(error)
    platform.log.error({ err: error, media_id: id }, 'an uploaded file could not be stored')
    throw new Problem(
      'upstream_unavailable',
      'The file could not be stored. Try again with backoff; the log of this installation has details for its operator.',
    )
  }
}

/** A complete one stays: its commit succeeded without an answer. */
async function discard({ storage }: UploadDeps, sql: Db, id: string): Promise<void> {
  if (!(await store.isIncomplete(sql, id))) return
  await storage.remove(id)
  await store.deleteMedia(sql, [id])
}

type FileConsumer<T> = (
  type: FileType,
  file_name: string,
  chunks: AsyncIterable<Buffer>,
  digest: (file_name: string) => string,
) => Promise<T>

const readUpload = <T>(request: IncomingMessage, consume: FileConsumer<T>): Promise<T> =>
  receiving(request, async () => {
    if (!isForm(request)) throw new Problem('invalid_json', 'Send the file as the field `file` of multipart/form-data.')
    if (Number(request.headers['content-length'] ?? 0) > uploadBytesMax + formOverhead)
      throw tooLarge(uploadBytesMax, 'A file')
    const result = await readForm(request, {
      field: (name) =>
        name === 'file'
          ? invalid(
              'file',
              'invalid_type',
              'The field `file` holds no file. Send it with a file name, as `-F file=@picture.jpg` does.',
            )
          : unknownField(name, 'file'),
      file: (chunks, file_name) => readFile(chunks as AsyncIterable<Buffer>, (file_name ?? '').slice(-255), consume),
    })
    if (result === undefined)
      throw invalid('file', 'missing_field', 'The form has no field `file`. Put the file there.')
    return result
  })

async function readFile<T>(chunks: AsyncIterable<Buffer>, file_name: string, consume: FileConsumer<T>): Promise<T> {
  const source = chunks[Symbol.asyncIterator]()
  const first: Buffer[] = []
  let known = 0
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    first.push(next.value)
    known += next.value.length
    if (known >= headBytes) break
  }
  if (known === 0) throw invalid('file', 'too_short', 'The file is empty.')
  const type = typeOfFile(Buffer.concat(first).subarray(0, headBytes), file_name)
  if (type === null)
    throw invalid(
      'file',
      'invalid_format',
      `The file type is not accepted, or its name does not match its content. Accepted are ${acceptedExtensions}.`,
    )
  const hash = createHash('sha256')
  const digest = (name: string) => canonicalFingerprint([hash.digest('base64url'), name])
  return await consume(
    type,
    file_name,
    bounded(first, source, type, (chunk) => hash.update(chunk)),
    digest,
  )
}

async function* bounded(
  first: readonly Buffer[],
  remainder: AsyncIterator<Buffer>,
  { kind }: FileType,
  forward: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  const bytes_max = bytesMaxOf(kind)
  let bytes = 0
  const counted = (chunk: Buffer): Buffer => {
    bytes += chunk.length
    if (bytes > bytes_max) throw tooLarge(bytes_max, `A file of type ${kind}`)
    forward(chunk)
    return chunk
  }
  for (const chunk of first) yield counted(chunk)
  for (let next = await remainder.next(); next.done !== true; next = await remainder.next()) yield counted(next.value)
}

function requireCapacity(bytes_max: number, stored: number, more: number): void {
  if (stored + more <= bytes_max) return
  throw new Problem(
    'payload_too_large',
    `The files of this account take up ${Math.ceil(stored / 1024 ** 2)} of ${Math.floor(bytes_max / 1024 ** 2)} MB, and this one does not fit. Wait until older files expire, or send a smaller one.`,
  )
}

const tooLarge = (bytes_max: number, what: string): Problem =>
  new Problem('payload_too_large', `${what} may have up to ${bytes_max / 1024 ** 2} MB. Send a smaller one.`)

const tooSlow = (): Problem =>
  new Problem(
    'invalid_json',
    `The upload took more than ${uploadMsMax / 60_000} minutes and was aborted. Send the file again.`,
  )
