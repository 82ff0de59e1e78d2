/** Stores an upload completely or not at all: chunks of a rejected or aborted one are deleted. */
import type { IncomingMessage } from 'node:http'
import { getCountries } from 'libphonenumber-js'
import type { Caller } from '../../../api/caller.ts'
import { invalid, Problem } from '../../../api/problem.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { canonicalFingerprint } from '../../../platform/http/idempotency.ts'
import type { Platform } from '../../../platform/platform.ts'
import { chunkWriter } from './chunk-writer.ts'
import type { ContactImportRow } from './import.ts'
import * as repository from './repository.ts'
import { receiveFile, type UploadedFile, type UploadOptions, type UploadTarget } from './upload-reader.ts'

const rowsPerChunk = 1000

export interface UploadHandler extends Pick<UploadTarget, 'onHeader'> {
  /** Counts against the limit of drafts. */
  readonly isDraft: boolean
  /** null when the upload was abandoned. */
  onComplete(id: string, file: UploadedFile, options: UploadOptions, digest: string): Promise<ContactImportRow | null>
}

export async function storeUpload(
  platform: Platform,
  sql: Db,
  caller: Caller,
  request: IncomingMessage,
  queryOptions: UploadOptions,
  { isDraft, onHeader, onComplete }: UploadHandler,
): Promise<{ row: ContactImportRow; digest: string }> {
  const { clock, ids, settings } = platform
  const id = ids('imp')
  const chunks = chunkWriter((chunk, number) => repository.insertChunk(sql, id, number, chunk))
  const upload = {
    id,
    request_id: caller.request_id,
    bytes: announcedBytes(request, settings),
    at: isoTime(clock.now()),
  }
  await transact(sql, async (tx) => {
    await repository.lockUploads(tx, caller)
    requireCapacity(settings, await repository.useOf(tx, caller), upload.bytes, isDraft)
    await repository.insertImport(tx, caller, upload)
  })
  try {
    const target = { bytes_max: settings.import_bytes_max, rows_per_chunk: rowsPerChunk, onHeader, write: chunks.write }
    const { file, options } = await receiveFile(request, queryOptions, target)
    await chunks.close(true)
    const digest = digestOf(file, options)
    const row = await onComplete(id, file, options, digest)
    if (row === null)
      throw new Problem('invalid_json', 'The upload took more than an hour and was given up. Send the file again.')
    return { row, digest }
  } catch (error) {
    await chunks.close(false)
    await transact(sql, (tx) => repository.deleteUpload(tx, caller, id))
    throw error
  }
}

/** As the request says; without a length the most that is accepted. */
function announcedBytes({ headers }: IncomingMessage, { import_bytes_max }: Platform['settings']): number {
  const length = Number(headers['content-length'] ?? import_bytes_max)
  return Number.isSafeInteger(length) ? Math.min(length, import_bytes_max) : import_bytes_max
}

function requireCapacity(
  { import_draft_limit, import_stored_bytes_max, import_bytes_max }: Platform['settings'],
  { drafts, bytes }: repository.ImportUse,
  more: number,
  isDraft: boolean,
): void {
  if (isDraft && drafts >= import_draft_limit)
    throw new Problem(
      'import_state_invalid',
      `This account has ${drafts} imports that are not started, which is the limit. Start or cancel one of them, then upload again.`,
    )
  // a single file is always accepted
  if (bytes > 0 && bytes + more > Math.max(import_stored_bytes_max, import_bytes_max))
    throw new Problem(
      'payload_too_large',
      `The import files of this account that are not applied yet take up ${megabytes(bytes)} MB; with this one they would exceed ${megabytes(import_stored_bytes_max)} MB. Wait until an import is completed, or cancel a draft.`,
    )
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2)

/** For a repeated upload; null when the file is unreadable. */
export async function digestOfUpload(
  { settings }: Platform,
  request: IncomingMessage,
  queryOptions: UploadOptions,
): Promise<string | null> {
  try {
    const nothing = { onHeader: () => undefined, write: () => Promise.resolve() }
    const { file, options } = await receiveFile(request, queryOptions, {
      bytes_max: settings.import_bytes_max,
      rows_per_chunk: rowsPerChunk,
      ...nothing,
    })
    return digestOf(file, options)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

const digestOf = ({ sha256, file_name }: UploadedFile, options: UploadOptions): string =>
  canonicalFingerprint([sha256, file_name, options])

const countries: ReadonlySet<string> = new Set(getCountries())

export function readCountry(text: string | undefined): string | null {
  if (text === undefined || text.trim() === '') return null
  const country = text.trim().toUpperCase()
  if (!countries.has(country))
    throw invalid(
      'default_country',
      'invalid_value',
      'default_country must be an ISO 3166 country code of two letters, such as DE.',
    )
  return country
}
