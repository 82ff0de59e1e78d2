/** The contacts of recipients as they are now. */
import type { Tenant } from '../../api/caller.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { ContactRow } from '../contacts/service.ts'
import type { CampaignDeps } from './deps.ts'

/** By their ids; recipients without a contact, and contacts that are gone, are left out. */
export async function contactsById(
  { contacts }: Pick<CampaignDeps, 'contacts'>,
  sql: Db,
  tenant: Tenant,
  recipients: readonly { readonly contact_id: string | null }[],
): Promise<ReadonlyMap<string, ContactRow>> {
  const ids = new Set(recipients.flatMap(({ contact_id }) => (contact_id === null ? [] : [contact_id])))
  return new Map((await contacts.rows(sql, tenant, [...ids])).map((contact) => [contact.id, contact]))
}
