/** Imports: a file is uploaded completely or not at all, then applied in the background (behaviour: imports 1, 3). */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Caller, Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { invalid, missing, Problem } from '../../../api/problem.ts'
import { importLimits, type ContactImport } from '../../../api/resources/contact-import.ts'
import { draftLimits } from '../../../api/resources/stepwise-import.ts'
import { importObject, type ContactImportRow } from './import.ts'
import { isoTime } from '../../../lib/clock.ts'
import { untilDone } from '../../../platform/jobs/periodic-jobs.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { isForm } from '../../../platform/http/form.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import type { StoreReply, Reply } from '../../../platform/http/route.ts'
import type { PeriodicJob, Platform } from '../../../platform/platform.ts'
import { csvLine, unguarded } from '../csv.ts'
import { readHeader, type Column } from './columns.ts'
import * as drafts from './draft-repository.ts'
import { digestOfUpload, readCountry, storeUpload } from './upload.ts'
import { importSteps } from './drafts.ts'
import * as repository from './repository.ts'
import type { UploadOptions } from './upload-reader.ts'

const uploadMsMax = 3600_000
const errorsPerPage = 500
const periodicJobRows = 5000

export type ImportService = ReturnType<typeof importService>

export const importService = (platform: Platform) => ({
  start: (sql: Db, caller: Caller, request: IncomingMessage, uploadOptions: UploadOptions, keep: StoreReply) =>
    startImport(platform, sql, caller, request, uploadOptions, keep),
  digest: (request: IncomingMessage, uploadOptions: UploadOptions): Promise<string | null> =>
    digestOfUpload(platform, request, uploadOptions),
  steps: importSteps(platform),
  list: listImports,
  errors: errorsOf,
  get: async (sql: Db, tenant: Tenant, id: string): Promise<ContactImport> =>
    importObject(await requireImport(sql, tenant, id)),
  periodicJobs: importPeriodicJobs(platform),
})

async function startImport(
  platform: Platform,
  sql: Db,
  caller: Caller,
  request: IncomingMessage,
  uploadOptions: UploadOptions,
  keep: StoreReply,
): Promise<Reply> {
  if (!isForm(request)) requireConsent(uploadOptions)
  readCountry(uploadOptions.default_country)
  let columns: Column[] = []
  const started = (row: ContactImportRow, digest: string): Reply => ({ status: 202, body: importObject(row), digest })
  const { row, digest } = await storeUpload(platform, sql, caller, request, uploadOptions, {
    isDraft: false,
    onHeader: (header, known) => {
      columns = readHeader(header, readMapping(known.columns))
    },
    async onComplete(id, file, options, digest) {
      requireConsent(options)
      const { clock } = platform
      const onComplete = { ...file, default_country: readCountry(options.default_country), columns }
      return await transact(sql, async (tx) => {
        const row = await repository.startImport(tx, caller, id, onComplete, isoTime(clock.now()))
        if (row !== null) await keep(tx, started(row, digest))
        return row
      })
    },
  })
  platform.notify('imports')
  return started(row, digest)
}

async function requireImport(sql: Db, tenant: Tenant, id: string): Promise<ContactImportRow> {
  const row = isId('imp', id) ? await repository.findImport(sql, tenant, id) : null
  if (row === null) throw missing('contact import', id)
  return row
}

async function listImports(sql: Db, tenant: Tenant, status: string | undefined, page: Page): Promise<ContactImport[]> {
  const exists = async (after: string) =>
    isId('imp', after) && (await repository.findImport(sql, tenant, after)) !== null
  await requireCursor(page.starting_after, 'No contact import has the id', exists)
  return (await repository.listImports(sql, tenant, status, page)).map(importObject)
}

async function errorsOf(sql: Db, tenant: Tenant, id: string): Promise<Readable> {
  const row = await requireImport(sql, tenant, id)
  return Readable.from(errorLines(sql, tenant, row), { objectMode: false })
}

const importPeriodicJobs = ({ pool, clock, retention_clock }: Platform): PeriodicJob[] => [
  {
    name: 'discard-abandoned-uploads',
    every_ms: 60_000,
    async run() {
      const stale = await repository.staleUploads(pool, isoTime(retention_clock.now() - uploadMsMax))
      for (const upload of stale) await transact(pool, (tx) => repository.deleteUpload(tx, upload, upload.id))
      return stale.length
    },
  },
  {
    name: 'delete-import-drafts',
    every_ms: 60_000,
    async run() {
      const stale = await drafts.staleDrafts(pool, isoTime(retention_clock.now() - draftLimits.kept_ms))
      for (const draft of stale) await transact(pool, (tx) => drafts.deleteDraft(tx, draft, draft.id, draft.updated_at))
      return stale.length
    },
  },
  {
    name: 'delete-import-errors',
    every_ms: 60_000,
    run: () =>
      untilDone(clock, periodicJobRows, () =>
        repository.deleteOldErrors(pool, isoTime(retention_clock.now() - importLimits.errors_kept_ms), periodicJobRows),
      ),
  },
]

function requireConsent({ consent_declared }: UploadOptions): void {
  if (consent_declared === 'true') return
  if (consent_declared !== undefined && consent_declared !== 'false')
    throw invalid('consent_declared', 'invalid_value', 'consent_declared must be true or false.')
  throw new Problem(
    'consent_required',
    'Pass consent_declared=true once you hold the consent of everybody in the file to be contacted.',
    {
      param: 'consent_declared',
    },
  )
}

function readMapping(text: string | undefined): Record<string, Column> {
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

async function* errorLines(
  sql: Db,
  tenant: Tenant,
  { id, header, delimiter }: ContactImportRow,
): AsyncGenerator<string> {
  yield csvLine([...header, 'import_row', 'import_result', 'import_reason'], delimiter)
  for (let after = 0; ;) {
    const rows = await repository.pageOfErrors(sql, tenant, id, after, errorsPerPage)
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
