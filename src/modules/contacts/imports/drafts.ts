/** Stepwise imports of the console: upload, map, check, then start or cancel (behaviour: console 7). */
import type { IncomingMessage } from 'node:http'
import type { Caller, Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { missing, Problem, retrySoon, throwFailures } from '../../../api/problem.ts'
import type { ImportChange, StepwiseImport } from '../../../api/resources/stepwise-import.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { mappingFailures, readHeader } from './columns.ts'
import * as drafts from './draft-repository.ts'
import { DryRun } from './dry-run.ts'
import { parseChunk, reportOf } from './chunk.ts'
import { stepwiseObject, type ContactImportRow } from './import.ts'
import { digestOfUpload, readCountry, storeUpload } from './upload.ts'
import { nextChunk } from './repository.ts'
import { UnreadableFile, type UploadOptions } from './upload-reader.ts'

type Named = Pick<UploadOptions, 'file_name'>

export function importSteps(platform: Platform) {
  const running = new Map<string, Promise<drafts.CheckResult>>()
  return {
    upload: (sql: Db, caller: Caller, request: IncomingMessage, options: Named) =>
      upload(platform, sql, caller, request, options),
    digest: (request: IncomingMessage, options: Named): Promise<string | null> =>
      digestOfUpload(platform, request, options),
    get: async (sql: Db, tenant: Tenant, id: string): Promise<StepwiseImport> =>
      stepwiseObject(await requireStep(sql, tenant, id)),
    change: (sql: Db, caller: Caller, id: string, change: ImportChange) => changed(platform, sql, caller, id, change),
    check: (sql: Db, caller: Caller, id: string) => checked(platform, running, sql, caller, id),
    start: (sql: Db, caller: Caller, id: string) => started(platform, sql, caller, id),
    cancel: (sql: Db, caller: Caller, id: string) => cancelled(platform, sql, caller, id),
  }
}

async function requireStep(sql: Db, tenant: Tenant, id: string): Promise<ContactImportRow> {
  const row = isId('imp', id) ? await drafts.findStep(sql, tenant, id) : null
  if (row === null) throw missing('contact import', id)
  return row
}

async function upload(
  platform: Platform,
  sql: Db,
  caller: Caller,
  request: IncomingMessage,
  options: Named,
): Promise<{ draft: StepwiseImport; digest: string }> {
  try {
    const { row, digest } = await storeUpload(platform, sql, caller, request, options, {
      isDraft: true,
      onHeader: () => undefined,
      onComplete: async (id, file) =>
        await drafts.insertDraft(sql, caller, id, { ...file, default_country: null }, isoTime(platform.clock.now())),
    })
    return { draft: stepwiseObject(row), digest }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    const message = `${error.message} ${howToSave}`
    throw new Problem('import_file_invalid', message, {
      param: 'file',
      details: error.details?.map((detail) => ({ ...detail, message })),
    })
  }
}

const howToSave = 'In a spreadsheet choose Save as or Download, then CSV UTF-8, and upload the file that comes of it.'

async function changed(
  platform: Platform,
  sql: Db,
  caller: Caller,
  id: string,
  change: ImportChange,
): Promise<StepwiseImport> {
  const { columns, default_country, consent_declared } = change
  const before = await requireStep(sql, caller, id)
  if (columns !== undefined) throwFailures(mappingFailures(before.header, columns))
  const row = await drafts.changeDraft(
    sql,
    caller,
    id,
    {
      mapping: columns,
      default_country: default_country === undefined ? undefined : readCountry(default_country ?? undefined),
      consent_declared,
      request_id: caller.request_id,
    },
    isoTime(platform.clock.now()),
  )
  if (row === null) throw await wrongState(sql, caller, id)
  return stepwiseObject(row)
}

async function checked(
  platform: Platform,
  running: Map<string, Promise<drafts.CheckResult>>,
  sql: Db,
  caller: Caller,
  id: string,
): Promise<StepwiseImport> {
  const read = await requireStep(sql, caller, id)
  if (read.status !== 'draft' && read.status !== 'checked') throw await wrongState(sql, caller, id)
  const row = { ...read, columns: readHeader(read.header, read.mapping) }
  const requested = JSON.stringify([caller.account_id, caller.mode, id, row.columns, row.default_country])
  let check = running.get(requested)
  if (check === undefined) {
    requireFreeCheck(platform, running, caller)
    check = dryRun(platform, row).finally(() => running.delete(requested))
    running.set(requested, check)
  }
  const done = await check
  const now = isoTime(platform.clock.now())
  const stored = await transact(sql, async (tx) => await drafts.setChecked(tx, read, done, now))
  if (stored !== null) return stepwiseObject(stored)
  if ((await requireStep(sql, caller, id)).status !== 'draft') throw await wrongState(sql, caller, id)
  throw new Problem('import_state_invalid', 'The import was changed while it was being checked. Check it again.')
}

function requireFreeCheck(
  { settings: { import_check_limit } }: Platform,
  running: ReadonlyMap<string, unknown>,
  { account_id }: Tenant,
): void {
  const own = [...running.keys()].filter((requested) => (JSON.parse(requested) as string[])[0] === account_id)
  if (own.length < import_check_limit) return
  throw new Problem(
    'rate_limit_exceeded',
    `This account checks ${own.length} imports at once, which is the limit. Wait until one check has ended, then check this import.`,
    { headers: retrySoon },
  )
}

/** Holds no connection between chunks. */
async function dryRun(platform: Platform, row: ContactImportRow): Promise<drafts.CheckResult> {
  const { pool, clock } = platform
  const dryRun = await DryRun.begin(platform, row)
  const context = { at: isoTime(clock.now()), expect_new: false }
  const counts = { created: 0, updated: 0, rejected: 0 }
  for (let after = -1; ;) {
    const chunk = await nextChunk(pool, row.id, after)
    if (chunk === null) return { columns: row.columns, ...counts }
    after = chunk.number
    const { progress } = await reportOf(platform, pool, row, parseChunk(chunk, row).rows, dryRun, context)
    counts.created += progress.created
    counts.updated += progress.updated
    counts.rejected += progress.rejected
  }
}

async function started(platform: Platform, sql: Db, caller: Caller, id: string): Promise<StepwiseImport> {
  const before = await requireStep(sql, caller, id)
  if (before.status === 'checked' && !before.consent_declared)
    throw new Problem(
      'consent_required',
      'Declare with consent_declared=true that everybody in the file has agreed to be contacted, then start the import.',
      {
        param: 'consent_declared',
      },
    )
  const row = await drafts.startChecked(sql, caller, id, isoTime(platform.clock.now()))
  if (row === null) throw await wrongState(sql, caller, id)
  platform.notify('imports')
  return stepwiseObject(row)
}

async function cancelled(platform: Platform, sql: Db, caller: Caller, id: string): Promise<StepwiseImport> {
  await requireStep(sql, caller, id)
  const row = await transact(sql, async (tx) => await drafts.cancelDraft(tx, caller, id, isoTime(platform.clock.now())))
  if (row === null) throw await wrongState(sql, caller, id)
  return stepwiseObject(row)
}

async function wrongState(sql: Db, tenant: Tenant, id: string): Promise<Problem> {
  const { status } = await requireStep(sql, tenant, id)
  if (status === 'draft')
    return new Problem('import_state_invalid', 'The import is a draft: check it, look at the counts, then start it.')
  if (status === 'checked')
    return new Problem('import_state_invalid', 'The import has changed meanwhile. Reload it, then repeat.')
  if (status === 'cancelled')
    return new Problem('import_state_invalid', 'The import was cancelled. Upload the file again.')
  return new Problem(
    'import_state_invalid',
    `The import has been started already and is ${status}. Read it to see how far it is.`,
  )
}
