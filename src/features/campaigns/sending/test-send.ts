/** A campaign's message to one address, to see it before it is launched: an API message like any other (behaviour: campaigns 6). */
import type { Caller } from '../../../contract/caller.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Sent } from '../../messages/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { existing } from '../reading.ts'
import { findAdhocRecipients } from '../store.ts'
import { renderedFor, valuesOf } from './rendering.ts'

/** Tags are filled in as for the first recipient of an ad-hoc audience, with what is known of the contact at this address. */
export async function sendTest(deps: CampaignDeps, sql: Db, caller: Caller, id: string, to: string, key: string | undefined): Promise<Sent> {
  const row = await existing(sql, caller, id)
  const sample = (await findAdhocRecipients(sql, caller, id))?.[0]
  const contact = await deps.contacts.ofAddress(sql, caller, row.channel_type, to)
  const values = valuesOf({ to, first_name: sample?.first_name ?? null, last_name: sample?.last_name ?? null, variables: sample?.variables ?? null }, contact)
  return await deps.messages.send(caller, { channel: row.channel_id, to, ...renderedFor(row, values) }, key)
}
