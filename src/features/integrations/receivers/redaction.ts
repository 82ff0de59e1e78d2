/** Forgets a person, as Shopify's `customers/redact` wants it: his contact, what receipts of the source say of him, and what waits to be sent about them (behaviour: integrations 4.8). */
import { Problem } from '../../../contract/problem.ts'
import { InOrder } from '../../../lib/in-order.ts'
import { phoneKey, phoneVariants } from '../../../lib/phone.ts'
import { transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ContactService } from '../../contacts/service.ts'
import { emptyReceipts, findReceiptsOfPerson } from '../reporting/store.ts'
import { forgetRunsOfEvents } from '../runs/store.ts'
import type { KnownSource } from './known-sources.ts'
import type { Redaction } from './native-event.ts'

export interface RedactionDeps {
  readonly platform: Platform
  readonly contacts: ContactService
}

/** Deletes what is known of a person. Resolves when nothing of it is left; who was told no answer may ask again. */
export type Redact = (source: KnownSource, redaction: Redaction) => Promise<void>

/** Contacts of one e-mail address that are looked for at a time. */
const contactsMax = 100

/** One at a time for each account: all receipts of a source are read for it. */
export function redactions(deps: RedactionDeps): Redact {
  const accounts = new InOrder()
  return (source, redaction) => accounts.run(source.account_id, () => redact(deps, source, redaction))
}

/** Receipts last: they tell which contacts are meant, also where it has to be done again. */
async function redact(
  { platform: { pool }, contacts }: RedactionDeps,
  source: KnownSource,
  { external_id, phone, email, order_ids }: Redaction,
): Promise<void> {
  const phones = phone === null ? [] : phoneVariants(phoneKey(phone)).map((variant) => variant.slice(1))
  const receipts = await findReceiptsOfPerson(pool, source, source.id, { external_id, phones, email, order_ids })
  const remove = (id: string) => contacts.remove(pool, source, id).catch(unlessGone)
  for (const id of new Set(receipts.map(({ contact_id }) => contact_id))) if (id !== null) await remove(id)
  const ofPhone = phone === null ? undefined : await contacts.ofAddress(pool, source, 'sms', phone)
  if (ofPhone !== undefined) await remove(ofPhone.id)
  while (email !== null) {
    const found = await contacts.list(pool, source, { email }, { limit: contactsMax, starting_after: undefined })
    for (const { id } of found) await remove(id)
    if (found.length === 0) break
  }
  await transact(pool, async (tx) => {
    const ids = receipts.map(({ id }) => id)
    await emptyReceipts(tx, source, ids)
    await forgetRunsOfEvents(tx, source, ids)
  })
}

function unlessGone(error: unknown): void {
  if (!(error instanceof Problem && error.code === 'resource_missing')) throw error
}
