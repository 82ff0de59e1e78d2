/** How many an audience means, counted within the time of a request: of one that takes longer it is not known before its snapshot. */
import { Turns } from '../../../lib/turns.ts'
import {
  limitStatements,
  sqlState,
  transact,
  type Db,
  type Fragment,
  type Transaction,
} from '../../../platform/database/sql.ts'
import type { AudienceSource } from '../../contacts/service.ts'
import { reachedAmong, reachedRecipients, type ReachWindow } from '../../messages/service.ts'
import type { CampaignDeps } from '../deps.ts'
import type { AdhocRecipients, CampaignRow } from '../rows.ts'
import { findAdhocRecipients } from '../store.ts'
import { adhocChunks } from './adhoc.ts'
import { countMeant, countNewContacts, countNewPending } from './count-store.ts'
import { isMarketing, sourceOf } from './source.ts'

/** The longest that a request waits for a count. */
const countingMs = 2000

/** How many contacts a segment means now, counted no further than `most`; null: that takes too long, or there is no such segment. */
export async function segmentSize(deps: CampaignDeps, sql: Db, row: CampaignRow, most: number): Promise<number | null> {
  const source = await sourceOf(deps, sql, row)
  if (source.kind !== 'segment') return null
  return await inTime(sql, (tx) => countMeant(tx, contactsOf(deps, tx, row, source, false), most))
}

/**
 * How many of its audience would be sent to now and were not reached in `window`, counted no further than `most`; null: that takes too long. `adhoc`: the recipients, where they are
 * not stored yet.
 */
export async function countNew(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  window: ReachWindow,
  most: number,
  adhoc?: AdhocRecipients | null,
): Promise<number | null> {
  const newPending = async () =>
    await inTime(sql, (tx) => countNewPending(tx, row, reachedRecipients(tx, window), most))
  if (row.snapshot_at !== null) return await newPending()
  const marketing = await isMarketing(deps.channels, row)
  const source = await sourceOf(deps, sql, row)
  if (source.kind === 'gone') return 0
  if (source.kind === 'taken') return await newPending()
  if (source.kind !== 'adhoc')
    return await inTime(sql, (tx) =>
      countNewContacts(tx, contactsOf(deps, tx, row, source, marketing), reachedRecipients(tx, window), most),
    )
  return await countNewAdhoc(deps, sql, row, window, {
    given: adhoc ?? (await findAdhocRecipients(sql, row, row.id)) ?? [],
    marketing,
  })
}

interface Given {
  readonly given: AdhocRecipients
  readonly marketing: boolean
}

/** At most some thousand, looked at some hundred at a time. */
async function countNewAdhoc(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  window: ReachWindow,
  { given, marketing }: Given,
): Promise<number> {
  const turns = new Turns()
  let count = 0
  for await (const recipients of adhocChunks(deps, sql, row, given, marketing)) {
    const sent = recipients.filter(({ skip_reason }) => skip_reason === null).map(({ to }) => to)
    const reached = await reachedAmong(sql, window, sent)
    count += sent.filter((to) => !reached.has(to)).length
    await turns.next()
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

async function inTime<T>(sql: Db, read: (tx: Transaction) => Promise<T>): Promise<T | null> {
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
