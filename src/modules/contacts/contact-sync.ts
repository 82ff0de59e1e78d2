/** Writes contacts reported repeatedly by another system: unchanged ones are neither locked nor written. */
import type { Tenant } from '../../api/caller.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { contactLimits } from '../../api/resources/contact.ts'
import { applyChange, newContact, type ContactChange, type ContactRow } from './contact.ts'
import { countContacts } from './counter-repository.ts'
import { matchKey, UnexpectedContact } from './contact-locks.ts'
import type { SaveContext, SaveItem, SaveResult } from './save-item.ts'
import { allowedChange, saveContacts } from './contact-writer.ts'
import { findOwners } from './repository.ts'

/** Upserts by phone. `owners` must be read in the same transaction. Rejects with `WriteConflict` when they changed. */
export async function syncContacts(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  items: readonly SaveItem[],
  context: SaveContext,
  owners: ReadonlyMap<string, ContactRow>,
): Promise<SaveResult[]> {
  const rows = items.map((item) => owners.get(matchKey(item)!.address))
  const changing = new Set(
    items.flatMap((item, index) =>
      rows[index] === undefined || isChanged(item, rows[index], context) ? [rows[index]?.id ?? index] : [],
    ),
  )
  const isSaved = (index: number): boolean => changing.has(rows[index]?.id ?? index)
  const saving = items.filter((_, index) => isSaved(index))
  const strangers = !rows.some((row, index) => row !== undefined && isSaved(index))
  const saved =
    saving.length === 0 ? [] : await (strangers ? saveStrangers : saveContacts)(platform, tx, tenant, saving, context)
  let next = 0
  return items.map((_, index) =>
    isSaved(index) ? saved[next++]! : { outcome: 'unchanged', row: rows[index]!, transitions: [], refused_opt_ins: [] },
  )
}

/** None of these had a contact a moment ago, so owners are not looked up again. */
async function saveStrangers(
  platform: Platform,
  tx: Transaction,
  tenant: Tenant,
  items: readonly SaveItem[],
  context: SaveContext,
): Promise<SaveResult[]> {
  try {
    return await saveContacts(platform, tx, tenant, items, { ...context, expect_new: true })
  } catch (error) {
    if (error instanceof UnexpectedContact) return await saveContacts(platform, tx, tenant, items, context)
    throw error
  }
}

function isChanged(item: SaveItem, row: ContactRow, context: SaveContext): boolean {
  const { row: after, transitions } = applyChange(row, allowedChange(item, row, context), context)
  return after !== row || transitions.length > 0
}

/** Null if the upsert would be refused. Writes nothing. */
export async function previewUpsert(
  platform: Platform,
  sql: Db,
  tenant: Tenant,
  change: ContactChange,
  context: SaveContext,
): Promise<ContactRow | null> {
  const item: SaveItem = { kind: 'upsert', change }
  const { address } = matchKey(item)!
  const existing = (await findOwners(sql, tenant, 'phone', [address])).get(address)
  if (existing === undefined && (await countContacts(sql, tenant)) >= platform.settings.contact_limit) return null
  const { row } = applyChange(
    existing ?? newContact(tenant, platform.ids('ct'), context.at),
    allowedChange(item, existing, context),
    context,
  )
  return row.tags.length > contactLimits.tags_max || Object.keys(row.attributes).length > contactLimits.attributes_max
    ? null
    : row
}
