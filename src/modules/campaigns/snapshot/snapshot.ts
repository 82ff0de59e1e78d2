/** Writes the recipients of an audience in chunks, resumable after a crash (behaviour: campaigns 4). */
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import { isoTime } from '../../../lib/clock.ts'
import { addressesOf, adhocRecipients } from '../audience/adhoc.ts'
import { isMarketing, type ResolvedAudience, resolveAudience } from '../audience/audience.ts'
import { type AdhocRecipients, type CampaignRow, estimateOf, trimmedNames } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { lockJob, type Job, requeueJob } from '../job-repository.ts'
import { insertFromContacts, insertRecipients } from '../recipient-repository.ts'
import { findAdhocRecipients, findCampaign, storeSegmentRules, lockCampaign, updateState } from '../repository.ts'
import type { ChunkSizes } from './chunk-size.ts'
import { failFor, transition } from '../transitions.ts'
import { addressKeyOf, type AudienceSource, type SaveItem } from '../../contacts/service.ts'
import { recipientFailures } from '../../messages/service.ts'
import { limitStatements, sqlState, transact, type Transaction } from '../../../platform/database/sql.ts'

const chunkRecipients = 1000
/** `updated_at` of a contact is the time of the request, and may precede its commit by this long. */
const openWritesMs = 5 * 60_000

export async function snapshotStep(deps: CampaignDeps, job: Job, sizes: ChunkSizes): Promise<boolean> {
  const { platform } = deps
  const row = await findCampaign(platform.pool, job, job.campaign_id)
  if (row === null || !needsSnapshot(row)) return false
  if (row.snapshot_rows > platform.settings.campaign_recipient_limit)
    return await ended(deps, row, 'audience_too_large')
  if (row.snapshot_began_at === null)
    return (await begin(deps, job, row)) || (await ended(deps, row, 'audience_missing'))
  const source = await resolveAudience(deps, platform.pool, row)
  if (source.kind === 'missing') return await ended(deps, row, 'audience_missing')
  if (source.kind === 'completed') return false
  // before the transaction, in which nothing may wait for another connection
  const marketing = await isMarketing(deps.channels, row)
  const began = platform.clock.elapsed()
  try {
    const more = await transact(platform.pool, (tx) => writeChunk(deps, tx, job, { source, marketing }, sizes))
    sizes.record(row.id, platform.clock.elapsed() - began)
    if (!more) sizes.forget(row.id)
    return more
  } catch (error) {
    if (sqlState(error) !== '57014' || sizes.timeoutMs(row.id) === null) throw error
    sizes.tooSlow(row.id)
    await requeueJob(platform.pool, row, isoTime(platform.clock.now()))
    return true
  }
}

const needsSnapshot = ({ snapshot_at, status }: CampaignRow): boolean =>
  snapshot_at === null && ['scheduled', 'queued', 'sending'].includes(status)

async function ended(
  { platform }: CampaignDeps,
  row: CampaignRow,
  reason: 'audience_too_large' | 'audience_missing',
): Promise<false> {
  await failFor(platform, row, row.id, reason)
  return false
}

/** Stores a segment's rules. False if the segment does not exist. */
async function begin({ platform, contacts }: CampaignDeps, job: Job, { audience }: CampaignRow): Promise<boolean> {
  return await transact(platform.pool, async (tx) => {
    const locked = await lockOwned(tx, job, platform.process_id)
    if (locked === null) return true
    if (audience.segment_id !== undefined) {
      const rules = await contacts.segments.rules(tx, locked, audience.segment_id)
      if (rules === null) return false
      await storeSegmentRules(tx, locked, locked.id, rules)
    }
    await updateState(tx, {
      ...locked,
      status: locked.status === 'scheduled' ? 'queued' : locked.status,
      snapshot_began_at: isoTime(platform.clock.now()),
    })
    await requeueJob(tx, locked, isoTime(platform.clock.now()))
    return true
  })
}

async function lockOwned(tx: Transaction, job: Job, process_id: string): Promise<CampaignRow | null> {
  // the campaign before its job: the lock order of pause and cancel
  const locked = await lockCampaign(tx, job, job.campaign_id)
  return locked !== null && needsSnapshot(locked) && (await lockJob(tx, job, process_id)) ? locked : null
}

interface ChunkResult {
  readonly rows: number
  readonly after: string | null
}

interface ChunkAudience<S extends ResolvedAudience = Exclude<ResolvedAudience, { kind: 'missing' | 'completed' }>> {
  readonly source: S
  readonly marketing: boolean
}

/** The last chunk completes the snapshot. Resolves to whether more follow. */
async function writeChunk(
  deps: CampaignDeps,
  tx: Transaction,
  job: Job,
  { source, marketing }: ChunkAudience,
  sizes: ChunkSizes,
): Promise<boolean> {
  const { platform } = deps
  const locked = await lockOwned(tx, job, platform.process_id)
  if (locked === null) return false
  const timeout_ms = source.kind === 'adhoc' ? null : sizes.timeoutMs(locked.id)
  if (timeout_ms !== null) await limitStatements(tx, timeout_ms)
  const { rows, after } =
    source.kind === 'adhoc'
      ? await adhocChunk(deps, tx, locked, marketing)
      : await contactsChunk(deps, tx, locked, { source, marketing }, sizes.of(locked.id))
  const written: CampaignRow = { ...locked, snapshot_rows: locked.snapshot_rows + rows }
  if (after === null && written.snapshot_rows <= platform.settings.campaign_recipient_limit) {
    await complete(deps, tx, locked, written)
    return false
  }
  await updateState(tx, { ...written, snapshot_after: after ?? locked.snapshot_after })
  // behind the other jobs: a large audience must not block them
  await requeueJob(tx, locked, isoTime(platform.clock.now()))
  return true
}

async function contactsChunk(
  { contacts }: CampaignDeps,
  tx: Transaction,
  row: CampaignRow,
  { source, marketing }: ChunkAudience<AudienceSource>,
  size: number,
): Promise<ChunkResult> {
  const until = await contacts.chunkEnd(tx, row, source, row.snapshot_after, size)
  const audience = {
    source,
    channel_type: row.channel_type,
    marketing,
    require_opt_in: row.require_opt_in,
    after: row.snapshot_after,
    until,
  }
  const rows = await insertFromContacts(tx, row, contacts.audienceRows(tx, row, audience), {
    rows: row.snapshot_rows,
    own_timezones: row.recipient_timezone,
    changed_since: isoTime(Date.parse(row.snapshot_began_at!) - openWritesMs),
  })
  return { rows, after: until }
}

async function adhocChunk(
  deps: CampaignDeps,
  tx: Transaction,
  row: CampaignRow,
  marketing: boolean,
): Promise<ChunkResult> {
  const adhoc = (await findAdhocRecipients(tx, row, row.id)) ?? []
  const from = row.snapshot_rows
  const chunk = adhoc.slice(from, from + chunkRecipients)
  if (row.audience.save_as_contacts === true) await saveAsContacts(deps, tx, row, chunk)
  const before = new Set(addressesOf(row.channel_type, adhoc.slice(0, from)))
  const recipients = await adhocRecipients(deps, tx, row, chunk, marketing, before)
  await insertRecipients(tx, row, recipients, from)
  const done = from + chunk.length
  return { rows: chunk.length, after: done < adhoc.length ? String(done) : null }
}

async function complete(
  { platform, billing }: CampaignDeps,
  tx: Transaction,
  locked: CampaignRow,
  written: CampaignRow,
): Promise<void> {
  const at = isoTime(platform.clock.now())
  const estimate = estimateOf(written.snapshot_rows, await billing.fundsOf(tx, locked, locked.channel_type))
  await storeSegmentRules(tx, locked, locked.id, null)
  await transition(tx, platform, locked, {
    ...written,
    status: 'sending',
    snapshot_after: '',
    snapshot_at: at,
    started_at: locked.started_at ?? at,
    estimated_credits: estimate.credits,
    estimated_wallet_micros: estimate.wallet_micros,
  })
}

/**
 * Up to the contact cap (behaviour: campaigns 4). Existing contacts stay unchanged. Nobody is opted in; an earlier
 * opt-out of the address applies.
 */
async function saveAsContacts(
  { platform, contacts }: CampaignDeps,
  tx: Transaction,
  row: CampaignRow,
  recipients: AdhocRecipients,
): Promise<void> {
  const { channel_type } = row
  if (!isPhoneChannel(channel_type)) return
  const items = recipients
    .filter(({ to }) => recipientFailures(channel_type, to).length === 0)
    .map((recipient): SaveItem => {
      const { to } = recipient
      const key = addressKeyOf(channel_type, to)
      const address = key.kind === 'phone' ? { phone: to } : { identifiers: { [key.kind]: key.address } }
      return { kind: 'link', key, change: {}, creation: { ...address, ...trimmedNames(recipient) } }
    })
  await contacts.save(tx, row, items, { at: isoTime(platform.clock.now()), source: 'campaign', keep_opt_outs: true })
}
