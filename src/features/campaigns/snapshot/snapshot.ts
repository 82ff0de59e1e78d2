/** The snapshot of an audience: its recipients are written in chunks, each in a transaction of well under a second, and go on where they stopped. */
import type { Tenant } from '../../../contract/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import { transact, type Db, type Transaction } from '../../../platform/database/sql.ts'
import type { AudienceSource } from '../../contacts/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { estimateOf } from '../drafts/estimates.ts'
import { failFor } from '../lifecycle/ending.ts'
import { move } from '../lifecycle/moves.ts'
import { holdJob, type Job } from '../job-store.ts'
import { insertFromContacts, insertRecipients } from '../recipient-store.ts'
import type { CampaignRow } from '../rows.ts'
import { findAdhocRecipients, findCampaign, lockCampaign, updateState } from '../store.ts'
import { adhocRecipients } from './adhoc.ts'

/** Contacts looked at in one transaction. */
const chunkContacts = 5000

/** Takes one chunk; resolves to whether there is more to do now. */
export async function snapshotStep(deps: CampaignDeps, job: Job): Promise<boolean> {
  const { platform } = deps
  const row = await findCampaign(platform.pool, job, job.campaign_id)
  if (row === null || row.snapshot_at !== null || !['scheduled', 'queued', 'sending'].includes(row.status)) return false
  if (row.snapshot_rows > platform.settings.campaign_recipient_limit) {
    await failFor(platform, job, row.id, 'audience_too_large')
    return false
  }
  const source = await sourceOf(deps, platform.pool, row)
  if (source === null) {
    await failFor(platform, job, row.id, 'audience_missing')
    return false
  }
  return await transact(platform.pool, async (tx) => {
    const held = (await holdJob(tx, job, platform.process_id)) ? await lockCampaign(tx, job, row.id) : null
    if (held === null || held.snapshot_at !== null || !['scheduled', 'queued', 'sending'].includes(held.status)) return false
    const { rows, after } = source === 'adhoc' ? await adhocChunk(deps, tx, held) : await contactsChunk(deps, tx, held, source)
    const written: CampaignRow = { ...held, status: held.status === 'scheduled' ? 'queued' : held.status, snapshot_rows: held.snapshot_rows + rows }
    if (after !== null) {
      await updateState(tx, { ...written, snapshot_after: after })
      return true
    }
    await complete(deps, tx, held, written)
    return false
  })
}

/** Whom the audience means; null where what it names is gone. */
async function sourceOf({ contacts }: CampaignDeps, sql: Db, row: CampaignRow): Promise<AudienceSource | 'adhoc' | null> {
  const { type, list_id, segment_id, tags, match } = row.audience
  if (type === 'adhoc') return 'adhoc'
  if (type === 'tags') return contacts.taggedSource(tags!, match === 'all' ? 'all' : 'any')
  if (type === 'list') return (await contacts.lists.exists(sql, row, list_id!)) ? { kind: 'list', list_id: list_id! } : null
  const audience = await contacts.segments.audience(sql, row, segment_id!)
  return audience === null ? null : { kind: 'segment', where: audience.where }
}

interface Chunk {
  readonly rows: number
  /** Where the next chunk begins; null: there is none. */
  readonly after: string | null
}

async function contactsChunk({ contacts, channels }: CampaignDeps, tx: Transaction, row: CampaignRow, source: AudienceSource): Promise<Chunk> {
  const until = await contacts.chunkEnd(tx, row, source, row.snapshot_after, chunkContacts)
  const marketing = await isMarketing(channels, row)
  const audience = { source, channel_type: row.channel_type, marketing, require_opt_in: row.require_opt_in, after: row.snapshot_after, until }
  // made within the statement: a fragment that is awaited would run
  const rows = await insertFromContacts(tx, row, contacts.audienceRows(tx, row, audience), { rows: row.snapshot_rows, own_timezones: row.recipient_timezone })
  return { rows, after: until }
}

async function adhocChunk(deps: CampaignDeps, tx: Transaction, row: CampaignRow): Promise<Chunk> {
  const given = (await findAdhocRecipients(tx, row, row.id)) ?? []
  const recipients = await adhocRecipients(deps, tx, row, given, await isMarketing(deps.channels, row))
  await insertRecipients(tx, row, recipients, 0)
  return { rows: recipients.length, after: null }
}

/** Whether who has stopped marketing alone is not to be written to. */
export async function isMarketing(channels: CampaignDeps['channels'], row: Tenant & Pick<CampaignRow, 'channel_id' | 'message'>): Promise<boolean> {
  const channel = await channels.find(row, row.channel_id)
  return channel !== null && (await channels.isMarketing(channel, row.message.type, row.message[row.message.type]))
}

/** The audience is known: sending begins, also of nobody. */
async function complete({ platform, billing }: CampaignDeps, tx: Transaction, held: CampaignRow, written: CampaignRow): Promise<void> {
  const at = isoTime(platform.clock.now())
  const estimate = estimateOf(written.snapshot_rows, await billing.fundsOf(tx, held, held.channel_type))
  await move(tx, platform, held, {
    ...written,
    status: 'sending',
    snapshot_after: '',
    snapshot_at: at,
    started_at: held.started_at ?? at,
    estimated_credits: estimate.credits,
    estimated_wallet_micros: estimate.wallet_micros,
  })
}
