/** Counts audiences within the time of a request; null if that is too short. */
import { TimeSlices } from '../../../lib/concurrency.ts'
import { adhocChunks } from './adhoc.ts'
import { isMarketing, resolveAudience } from './audience.ts'
import { countContactsUpTo, countNewContacts, countNewPending } from './repository.ts'
import type { AdhocRecipients, CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { findAdhocRecipients } from '../repository.ts'
import type { AudienceSource } from '../../contacts/service.ts'
import { reachedAmong, reachedRecipients, type ReachWindow } from '../../messages/service.ts'
import {
  type Db,
  type Fragment,
  limitStatements,
  sqlState,
  transact,
  type Transaction,
} from '../../../platform/database/sql.ts'

const countingMs = 2000

export async function segmentSize(deps: CampaignDeps, sql: Db, row: CampaignRow, most: number): Promise<number | null> {
  const source = await resolveAudience(deps, sql, row)
  if (source.kind !== 'segment') return null
  return await withinTimeLimit(sql, (tx) => countContactsUpTo(tx, contactsOf(deps, tx, row, source, false), most))
}

/** `adhoc`: recipients that are not stored yet. */
export async function countNewRecipients(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  window: ReachWindow,
  most: number,
  adhoc?: AdhocRecipients | null,
): Promise<number | null> {
  const newPending = async () =>
    await withinTimeLimit(sql, (tx) => countNewPending(tx, row, reachedRecipients(tx, window), most))
  if (row.snapshot_at !== null) return await newPending()
  const marketing = await isMarketing(deps.channels, row)
  const source = await resolveAudience(deps, sql, row)
  if (source.kind === 'missing') return 0
  if (source.kind === 'completed') return await newPending()
  if (source.kind !== 'adhoc')
    return await withinTimeLimit(sql, (tx) =>
      countNewContacts(tx, contactsOf(deps, tx, row, source, marketing), reachedRecipients(tx, window), most),
    )
  return await countNewAdhoc(deps, sql, row, window, {
    adhoc: adhoc ?? (await findAdhocRecipients(sql, row, row.id)) ?? [],
    marketing,
  })
}

async function countNewAdhoc(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  window: ReachWindow,
  { adhoc, marketing }: { readonly adhoc: AdhocRecipients; readonly marketing: boolean },
): Promise<number> {
  const slices = new TimeSlices()
  let count = 0
  for await (const recipients of adhocChunks(deps, sql, row, adhoc, marketing)) {
    const sent = recipients.filter(({ skip_reason }) => skip_reason === null).map(({ to }) => to)
    const reached = await reachedAmong(sql, window, sent)
    count += sent.filter((to) => !reached.has(to)).length
    await slices.next()
  }
  return count
}

function contactsOf(
  { contacts }: CampaignDeps,
  tx: Transaction,
  row: CampaignRow,
  source: AudienceSource,
  marketing: boolean,
): Fragment {
  const { channel_type, require_opt_in } = row
  return contacts.audienceRows(tx, row, { source, channel_type, marketing, require_opt_in, after: '', until: null })
}

async function withinTimeLimit<T>(sql: Db, read: (tx: Transaction) => Promise<T>): Promise<T | null> {
  try {
    return await transact(sql, async (tx) => {
      await limitStatements(tx, countingMs)
      return await read(tx)
    })
  } catch (error) {
    if (sqlState(error) === '57014') return null
    throw error
  }
}
