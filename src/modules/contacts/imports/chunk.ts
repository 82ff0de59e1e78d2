/** Applies one chunk of an import in one transaction. */
import type { ContactImportRow } from './import.ts'
import { phoneKey } from '../../../lib/phone.ts'
import { sqlState, transact, type Db, type Transaction, violatedConstraint } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { defaultCountryOf } from '../../accounts/service.ts'
import { foldText, type ContactChange } from '../contact.ts'
import { refusedOptIns, withoutLiftedOptOuts, saveContacts } from '../contact-writer.ts'
import { WriteConflict } from '../contact-locks.ts'
import type { SaveContext, SaveItem, SaveResult } from '../save-item.ts'
import { attributeTypes, mergeChanges, readRow, readRows, type Row } from './cells.ts'
import * as repository from './repository.ts'

export interface ParsedChunk {
  readonly number: number
  readonly rows: readonly Row[]
  readonly keys: ReadonlySet<string>
  readonly found_by: ReadonlySet<string>
}

export function parseChunk(chunk: repository.ChunkRow, row: ContactImportRow): ParsedChunk {
  const rows = readRows({ text: chunk.body, first_row: chunk.first_row }, row.delimiter)
  const phoneAt = row.columns.indexOf('phone')
  const emailAt = row.columns.indexOf('email')
  const others = row.columns.flatMap((column, at) =>
    column?.startsWith('identifiers.') === true ? [{ column, at }] : [],
  )
  const [keys, found_by] = [new Set<string>(), new Set<string>()]
  for (const { cells } of rows) {
    const cellAt = (at: number): string => (cells[at] ?? '').trim()
    const phone = cellAt(phoneAt)
    let by = phone === '' ? undefined : 'phone'
    // numbers may lack their country code, so the last digits are compared
    if (phone !== '') keys.add(/\d{7}$/.test(phone) ? phone.slice(-7) : phone.replaceAll(/\D/g, '').slice(-7))
    for (const { column, at } of others) {
      if (cellAt(at) === '') continue
      by ??= column
      keys.add(`${column}|${cellAt(at)}`)
    }
    if (by === undefined && cellAt(emailAt) !== '') {
      by = 'email'
      keys.add(`email|${foldText(cellAt(emailAt))}`)
    }
    if (by !== undefined) found_by.add(by)
  }
  return { number: chunk.number, rows, keys, found_by }
}

/**
 * Whether both chunks may refer to the same contact: the later row wins (behaviour: imports 3.1). A phone number and an
 * e-mail address may belong to one contact. The first chunk also decides the types of attributes.
 */
export function dependsOn(chunk: ParsedChunk, earlier: ParsedChunk): boolean {
  if (earlier.number === 0 || new Set([...chunk.found_by, ...earlier.found_by]).size > 1) return true
  for (const key of chunk.keys) if (earlier.keys.has(key)) return true
  return false
}

interface RowGroup {
  readonly rows: Row[]
  change: ContactChange
  id?: string
  /** Opt-ins overridden by an opt-out in an earlier row. */
  refused_opt_ins?: Map<Row, readonly string[]>
}

interface Report {
  readonly errors: repository.NewImportError[]
  readonly progress: { created: number; updated: number; rejected: number; warnings: number }
}

export interface ChunkTarget {
  save(items: readonly SaveItem[], context: SaveContext): Promise<SaveResult[]>
  findByEmail(keys: readonly string[]): Promise<repository.FoundByEmail[]>
}

export interface ChunkContext {
  readonly at: string
  readonly expect_new: boolean
}

/**
 * null when the chunk was already applied. With `expect_new`, owners are looked up only after an address turns out to
 * be known. Call it inside `withConflictRetries`.
 */
export async function applyChunk(
  platform: Platform,
  tx: Transaction,
  row: ContactImportRow,
  chunk: ParsedChunk,
  chunkContext: ChunkContext,
): Promise<repository.Progress | null> {
  if (!(await repository.deleteChunk(tx, row.id, chunk.number))) return null
  const target: ChunkTarget = {
    save: async (items, context) => await transact(tx, (inner) => saveContacts(platform, inner, row, items, context)),
    findByEmail: async (keys) => await repository.findByEmail(tx, row, keys),
  }
  const report = await reportOf(platform, tx, row, chunk.rows, target, chunkContext)
  await repository.insertErrors(
    tx,
    row,
    row.id,
    report.errors.toSorted((a, b) => a.row - b.row),
    chunkContext.at,
  )
  // last, because concurrent chunks wait for each other here
  await repository.addProgress(tx, row, row.id, report.progress, chunkContext.at)
  return report.progress
}

export async function reportOf(
  platform: Platform,
  sql: Db,
  row: ContactImportRow,
  rows: readonly Row[],
  target: ChunkTarget,
  { at, expect_new }: ChunkContext,
): Promise<Report> {
  const report: Report = { errors: [], progress: { created: 0, updated: 0, rejected: 0, warnings: 0 } }
  const keys = row.columns.flatMap((column) =>
    column?.startsWith('attributes.') === true ? [column.slice('attributes.'.length)] : [],
  )
  const types = attributeTypes(rows, row.columns, await repository.definedTypes(sql, row, keys))
  const hinted_country = row.default_country === null ? await defaultCountryOf(sql, row.account_id) : null
  const requested: RowGroup[] = []
  for (const each of rows) {
    const { change, reasons } = readRow(each, {
      columns: row.columns,
      types,
      default_country: row.default_country,
      hinted_country,
      at,
    })
    if (reasons.length === 0) requested.push({ rows: [each], change })
    else reject(report, { rows: [each], change }, reasons.join(' '))
  }
  const context: SaveContext = { at, source: 'import', request_id: row.request_id, keep_opt_outs: true, expect_new }
  const [emailOnly, others] = [requested.filter(hasEmailOnly), requested.filter((each) => !hasEmailOnly(each))]
  await save(platform, row, target, others, context, report)
  await save(platform, row, target, await byEmail(target, emailOnly, report), context, report)
  return report
}

const hasEmailOnly = ({ change: { phone, identifiers, email } }: RowGroup): boolean =>
  !phone && identifiers === undefined && Boolean(email)

async function byEmail(target: ChunkTarget, requested: readonly RowGroup[], report: Report): Promise<RowGroup[]> {
  const byKey = new Map<string, RowGroup>()
  for (const each of requested) {
    const key = foldText(each.change.email!)
    const before = byKey.get(key)
    if (before === undefined) byKey.set(key, each)
    else {
      const allowed = withoutLiftedOptOuts(before.change.consent ?? {}, each.change)
      const refused = refusedOptIns(each.change, allowed)
      if (refused.length > 0) for (const row of each.rows) (before.refused_opt_ins ??= new Map()).set(row, refused)
      before.rows.push(...each.rows)
      before.change = mergeChanges(before.change, allowed)
    }
  }
  if (byKey.size === 0) return []
  for (const { email_key, id, others: more } of await target.findByEmail([...byKey.keys()])) {
    const each = byKey.get(email_key)!
    each.id = id
    if (more === 0) continue
    byKey.delete(email_key)
    reject(report, each, 'Several contacts have this e-mail address: name the one that is meant by its phone number.')
  }
  return [...byKey.values()]
}

const itemOf = ({ id, change }: RowGroup): SaveItem =>
  id === undefined ? { kind: 'upsert', change } : { kind: 'update', id, change }

/** Halves the rows to find one that the database rejects. */
async function save(
  platform: Platform,
  row: ContactImportRow,
  target: ChunkTarget,
  requested: readonly RowGroup[],
  context: SaveContext,
  report: Report,
): Promise<void> {
  if (requested.length === 0) return
  let results: SaveResult[]
  try {
    results = await target.save(requested.map(itemOf), context)
  } catch (error) {
    if (error instanceof WriteConflict && context.expect_new === true)
      return await save(platform, row, target, requested, { ...context, expect_new: false }, report)
    // a used address is a conflict, which withConflictRetries retries
    if (!/^2[23]/.test(sqlState(error) ?? '') || violatedConstraint(error) === 'contact_addresses_pkey') throw error
    if (requested.length === 1) {
      platform.log.warn({ err: error, import_id: row.id }, 'a row of an import could not be stored')
      reject(report, requested[0]!, 'The row holds a value that cannot be stored.')
      return
    }
    const middle = requested.length >> 1
    await save(platform, row, target, requested.slice(0, middle), context, report)
    await save(platform, row, target, requested.slice(middle), context, report)
    return
  }
  for (const [at, result] of results.entries()) settle(report, requested[at]!, result)
}

function settle(report: Report, requested: RowGroup, result: SaveResult): void {
  const { progress } = report
  if (result.outcome === 'refused')
    return reject(
      report,
      requested,
      refusals[result.reason] +
        (result.reason === 'contact_exists' ? ` It is ${result.contact_id}'s ${result.param}.` : ''),
    )
  progress.created += result.outcome === 'created' ? 1 : 0
  progress.updated += requested.rows.length - (result.outcome === 'created' ? 1 : 0)
  if (result.refused_opt_ins.length === 0 && requested.refused_opt_ins === undefined) return
  for (const each of requested.rows) {
    const refused = new Set([...(requested.refused_opt_ins?.get(each) ?? []), ...result.refused_opt_ins])
    if (refused.size === 0) continue
    const without = [...refused].map((type) => `consent.${type}`).join(' and ')
    progress.warnings += 1
    report.errors.push(
      errorOf(
        each,
        requested.change,
        true,
        `Applied without ${without}: the recipient has opted out, and an import does not undo that.`,
      ),
    )
  }
}

const refusals: Readonly<Record<(SaveResult & { outcome: 'refused' })['reason'], string>> = {
  contact_exists: 'Another contact has an address of this row.',
  contact_limit_reached: 'The account has reached its limit of contacts; rows of existing contacts are still applied.',
  resource_missing: 'The contact was deleted while the row was being applied.',
  address_missing: 'The row has no phone number, e-mail address or identifier.',
  too_many_tags: 'The contact would have more than 50 tags.',
  too_many_attributes: 'The contact would have more attributes than it may.',
}

function reject(report: Report, requested: RowGroup, reason: string): void {
  report.progress.rejected += requested.rows.length
  for (const row of requested.rows) report.errors.push(errorOf(row, requested.change, false, reason))
}

const errorOf = (
  { row, cells }: Row,
  { phone, email }: ContactChange,
  applied: boolean,
  reason: string,
): repository.NewImportError => ({
  row,
  applied,
  reason,
  cells,
  phone_key: phone ? phoneKey(phone) : null,
  email_key: email ? foldText(email) : null,
})
