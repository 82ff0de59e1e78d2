/** A dry run of an import, without locks or writes. */
import type { Tenant } from '../../../api/caller.ts'
import type { Pool } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { addressesOf, foldText, newContact, type ContactRow } from '../contact.ts'
import { countContacts } from '../counter-repository.ts'
import { changedKeys, keyText, matchKey, lockedContact, type ContactLocks } from '../contact-locks.ts'
import type { SaveContext, SaveItem, SaveResult } from '../save-item.ts'
import { previewSave } from '../contact-writer.ts'
import { findAddresses, findContacts } from '../repository.ts'
import { KeyTable } from './key-table.ts'
import type { ChunkTarget } from './chunk.ts'
import { findByEmail, type FoundByEmail } from './repository.ts'

/** Values of the key table: the address was removed; several contacts have the e-mail address. */
const nobody = -1
const several = -2

export class DryRun implements ChunkTarget {
  readonly #platform: Platform
  readonly #sql: Pool
  readonly #tenant: Tenant
  readonly #keys = new KeyTable()
  readonly #owners: (string | null)[] = []
  #capacity: number

  private constructor(platform: Platform, sql: Pool, tenant: Tenant, capacity: number) {
    this.#platform = platform
    this.#sql = sql
    this.#tenant = tenant
    this.#capacity = capacity
  }

  static async begin(platform: Platform, tenant: Tenant): Promise<DryRun> {
    const { pool, settings } = platform
    return new DryRun(platform, pool, tenant, Math.max(settings.contact_limit - (await countContacts(pool, tenant)), 0))
  }

  async save(items: readonly SaveItem[], context: SaveContext): Promise<SaveResult[]> {
    const known = await this.#known(items, context)
    const before = new Map([...known.contacts].map(([id, { row }]) => [id, row]))
    const results = previewSave(this.#platform, this.#tenant, known, items, context)
    this.#capacity = known.capacity
    for (const contact of known.contacts.values())
      if (contact.changed) this.#remember(before.get(contact.row.id), contact.row)
    return results
  }

  async findByEmail(keys: readonly string[]): Promise<FoundByEmail[]> {
    const stored = new Map((await findByEmail(this.#sql, this.#tenant, keys)).map((found) => [found.email_key, found]))
    return keys.flatMap((email_key) => {
      const found = stored.get(email_key)
      const owner = this.#keys.get(emailText(email_key))
      if (owner === undefined) return found === undefined ? [] : [found]
      if (owner === several) return [{ email_key, id: found?.id ?? '', others: 1 }]
      const id = this.#idOf(owner)
      return [
        { email_key, id, others: found === undefined || found.id === id ? (found?.others ?? 0) : found.others + 1 },
      ]
    })
  }

  async #known(items: readonly SaveItem[], { at }: SaveContext): Promise<ContactLocks> {
    const keys = items.flatMap(({ change }) => changedKeys(change))
    const owners = new Map(
      (await findAddresses(this.#sql, this.#tenant, keys)).map((row) => [keyText(row), row.contact_id]),
    )
    for (const text of keys.map(keyText)) {
      const owner = this.#keys.get(text)
      if (owner === nobody) owners.delete(text)
      else if (owner !== undefined) owners.set(text, this.#idOf(owner))
    }
    const wanted = new Set<string>()
    for (const item of items) {
      const key = matchKey(item)
      const id = item.kind === 'update' ? item.id : key === undefined ? undefined : owners.get(keyText(key))
      if (id !== undefined) wanted.add(id)
    }
    const isMade = (id: string) => id.startsWith(madePrefix)
    const rows = await findContacts(
      this.#sql,
      this.#tenant,
      [...wanted].filter((id) => !isMade(id)),
    )
    for (const id of wanted) if (isMade(id)) rows.push(newContact(this.#tenant, id, at))
    const contacts = new Map(rows.map((row) => [row.id, lockedContact(row, row)]))
    // deleted meanwhile
    for (const [text, id] of owners) if (wanted.has(id) && !contacts.has(id)) owners.delete(text)
    return { contacts, owners, capacity: this.#capacity }
  }

  #remember(before: ContactRow | undefined, row: ContactRow): void {
    const id = before === undefined ? null : before.id
    let number: number | undefined
    const numbered = () =>
      (number ??= id?.startsWith(madePrefix) === true ? Number(id.slice(madePrefix.length)) : this.#owners.push(id) - 1)
    const left = new Set(before === undefined ? [] : addressesOf(before).map(keyText))
    for (const text of addressesOf(row).map(keyText)) if (!left.delete(text)) this.#keys.set(text, numbered())
    for (const text of left) this.#keys.set(text, nobody)
    if (row.email === null || row.email === before?.email) return
    const text = emailText(foldText(row.email))
    const owner = this.#keys.get(text)
    this.#keys.set(text, owner === undefined || owner === numbered() || this.#idOf(owner) === id ? numbered() : several)
  }

  #idOf(owner: number): string {
    return this.#owners[owner] ?? `${madePrefix}${owner}`
  }
}

const madePrefix = 'made '
const emailText = (email_key: string): string => `@|${email_key}`
