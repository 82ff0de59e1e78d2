/** Forgets a person, as Shopify's `customers/redact` wants it: his contact, what receipts of the source say of him, and what waits to be sent about them (behaviour: integrations 4.8). */
import { Problem } from '../../../contract/problem.ts'
import { phoneKey, phoneVariants } from '../../../lib/phone.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ContactService } from '../../contacts/service.ts'
import { redactReceipts } from '../reporting/store.ts'
import { forgetRunsOfEvents } from '../runs/store.ts'
import type { KnownSource } from './known-sources.ts'
import type { Redaction } from './native-event.ts'

export interface RedactionDeps {
  readonly platform: Platform
  readonly contacts: ContactService
}

/** Contacts of one e-mail address that are looked for. */
const sameEmailMax = 100

/** A second time changes nothing: who was told no answer may ask again. */
export async function redact({ platform, contacts }: RedactionDeps, source: KnownSource, { external_id, phone, email, order_ids }: Redaction): Promise<void> {
  const { pool } = platform
  const phones = phone === null ? [] : phoneVariants(phoneKey(phone)).map((variant) => variant.slice(1))
  const emptied = await transact(pool, async (tx) => {
    const receipts = await redactReceipts(tx, source, source.id, { external_id, phones, email, order_ids })
    await forgetRunsOfEvents(
      tx,
      source,
      receipts.map(({ id }) => id),
    )
    return receipts
  })
  const ids = new Set(emptied.map(({ contact_id }) => contact_id).filter((id) => id !== null))
  const ofPhone = phone === null ? undefined : await contacts.ofAddress(pool, source, 'sms', phone)
  if (ofPhone !== undefined) ids.add(ofPhone.id)
  if (email !== null) for (const { id } of await contacts.list(pool, source, { email }, { limit: sameEmailMax, starting_after: undefined })) ids.add(id)
  for (const id of ids) await contacts.remove(pool, source, id).catch(unlessGone)
}

function unlessGone(error: unknown): void {
  if (!(error instanceof Problem && error.code === 'resource_missing')) throw error
}
