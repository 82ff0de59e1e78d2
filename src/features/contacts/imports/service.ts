/** What imports mean: a file is taken in whole or not at all, then applied in the background (behaviour: imports 1, 3). */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { getCountries } from 'libphonenumber-js'
import type { Caller, Tenant } from '../../../contract/caller.ts'
import { isId } from '../../../contract/ids.ts'
import { invalid, missing, Problem } from '../../../contract/problem.ts'
import { importLimits, type ContactImport } from '../../../contract/resources/contact-import.ts'
import { importObject } from './present.ts'
import type { ContactImportRow } from './rows.ts'
import { isoTime } from '../../../lib/clock.ts'
import { untilDone } from '../../../platform/chores.ts'
import { canonicalFingerprint } from '../../../platform/http/idempotency.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import type { Chore, Platform } from '../../../platform/platform.ts'
import { csvLine, unguarded } from '../csv.ts'
import { readHeader, type Column } from './columns.ts'
import { pieceWriter } from './piece-writer.ts'
import * as store from './store.ts'
import { receiveFile, type UploadedFile, type UploadOptions } from './upload.ts'

/** Rows of a piece: what one transaction applies, well under a tenth of a second. */
const rowsPerPiece = 1000
/** An upload that takes longer is given up. */
const uploadMsMax = 3600_000
const errorsPerPage = 500
const choreRows = 5000

export type ImportService = ReturnType<typeof importService>

export const importService = (platform: Platform) => ({
  start: (sql: Db, caller: Caller, request: IncomingMessage, given: UploadOptions) => startImport(platform, sql, caller, request, given),
  digest: (request: IncomingMessage, given: UploadOptions): Promise<string | null> => digestOfUpload(platform, request, given),
  list: listImports,
  errors: errorsOf,
  get: async (sql: Db, tenant: Tenant, id: string): Promise<ContactImport> => importObject(await existing(sql, tenant, id)),
  chores: importChores(platform),
})

/** Takes a file in; `digest` tells the upload from another one. Nothing is left of one that is refused, or that never ends. */
async function startImport(
  platform: Platform,
  sql: Db,
  caller: Caller,
  request: IncomingMessage,
  given: UploadOptions,
): Promise<{ started: ContactImport; digest: string }> {
  if (!isForm(request)) requireConsent(given)
  readCountry(given.default_country)
  const { clock, ids, settings } = platform
  const id = ids('imp')
  let columns: Column[] = []
  const pieces = pieceWriter((piece, number) => store.insertPiece(sql, id, number, piece))
  await store.insertImport(sql, caller, id, caller.request_id, isoTime(clock.now()))
  try {
    const { file, options } = await receiveFile(request, given, {
      bytes_max: settings.import_bytes_max,
      rows_per_piece: rowsPerPiece,
      onHeader: (header, known) => {
        columns = readHeader(header, readChosen(known.columns))
      },
      write: pieces.write,
    })
    await pieces.close(true)
    requireConsent(options)
    const row = await store.startImport(sql, caller, id, { ...file, default_country: readCountry(options.default_country), columns }, isoTime(clock.now()))
    if (row === null) throw new Problem('invalid_json', 'The upload took more than an hour and was given up. Send the file again.')
    platform.notify('imports')
    return { started: importObject(row), digest: digestOf(file, options) }
  } catch (error) {
    await pieces.close(false)
    await transact(sql, (tx) => store.deleteUpload(tx, caller, id))
    throw error
  }
}

/** Reads an upload that came again, and keeps nothing of it: the digest that `startImport` told, or null where no file can be read. */
async function digestOfUpload({ settings }: Platform, request: IncomingMessage, given: UploadOptions): Promise<string | null> {
  try {
    const nothing = { onHeader: () => undefined, write: () => Promise.resolve() }
    const { file, options } = await receiveFile(request, given, { bytes_max: settings.import_bytes_max, rows_per_piece: rowsPerPiece, ...nothing })
    return digestOf(file, options)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

async function existing(sql: Db, tenant: Tenant, id: string): Promise<ContactImportRow> {
  const row = isId('imp', id) ? await store.findImport(sql, tenant, id) : null
  if (row === null) throw missing('contact import', id)
  return row
}

async function listImports(sql: Db, tenant: Tenant, status: string | undefined, page: Page): Promise<ContactImport[]> {
  const exists = async (after: string) => isId('imp', after) && (await store.findImport(sql, tenant, after)) !== null
  await requireCursor(page.starting_after, 'No contact import has the id', exists)
  return (await store.listImports(sql, tenant, status, page)).map(importObject)
}

/** The rejected rows as CSV: the columns of the file, then which row it was and why. */
async function errorsOf(sql: Db, tenant: Tenant, id: string): Promise<Readable> {
  const row = await existing(sql, tenant, id)
  return Readable.from(errorLines(sql, tenant, row), { objectMode: false })
}

/** Uploads whose process died, and rejected rows that were kept long enough. */
const importChores = ({ pool, clock, ageing }: Platform): Chore[] => [
  {
    name: 'drop-abandoned-uploads',
    every_ms: 60_000,
    async run() {
      const stale = await store.staleUploads(pool, isoTime(ageing.now() - uploadMsMax))
      for (const upload of stale) await transact(pool, (tx) => store.deleteUpload(tx, upload, upload.id))
      return stale.length
    },
  },
  {
    name: 'forget-import-errors',
    every_ms: 60_000,
    run: () => untilDone(clock, choreRows, () => store.deleteOldErrors(pool, isoTime(ageing.now() - importLimits.errors_kept_ms), choreRows)),
  },
]

const digestOf = ({ sha256, file_name }: UploadedFile, options: UploadOptions): string => canonicalFingerprint([sha256, file_name, options])

const isForm = (request: IncomingMessage): boolean => /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')

function requireConsent({ consent_declared }: UploadOptions): void {
  if (consent_declared === 'true') return
  if (consent_declared !== undefined && consent_declared !== 'false')
    throw invalid('consent_declared', 'invalid_value', 'consent_declared must be true or false.')
  throw new Problem('consent_required', 'Pass consent_declared=true once you hold the consent of everybody in the file to be contacted.', {
    param: 'consent_declared',
  })
}

const countries: ReadonlySet<string> = new Set(getCountries())

function readCountry(text: string | undefined): string | null {
  if (text === undefined || text.trim() === '') return null
  const country = text.trim().toUpperCase()
  if (!countries.has(country)) throw invalid('default_country', 'invalid_value', 'default_country must be an ISO 3166 country code of two letters, such as DE.')
  return country
}

/** `columns`: a JSON object of headers and the fields that they are. */
function readChosen(text: string | undefined): Record<string, Column> {
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    !Object.values(value).every((field) => field === null || typeof field === 'string')
  ) {
    throw invalid(
      'columns',
      'invalid_format',
      'columns must be a JSON object of headers and fields, such as {"Shoe size":"attributes.shoe_size","Notes":null}.',
    )
  }
  return value as Record<string, Column>
}

async function* errorLines(sql: Db, tenant: Tenant, { id, header, delimiter }: ContactImportRow): AsyncGenerator<string> {
  yield csvLine([...header, 'import_row', 'import_result', 'import_reason'], delimiter)
  for (let after = 0; ;) {
    const rows = await store.pageOfErrors(sql, tenant, id, after, errorsPerPage)
    let text = ''
    for (const { row, applied, reason, cells } of rows) {
      const padded = header.map((_, at) => unguarded(cells[at] ?? ''))
      text += csvLine([...padded, String(row), applied ? 'applied in part' : 'rejected', reason], delimiter)
    }
    if (text !== '') yield text
    if (rows.length < errorsPerPage) return
    after = rows.at(-1)!.row
  }
}
