/** The recipients of a rehearsal, read in chunks: those that a snapshot would find, or that are still pending. */
import type { SkipReason } from '../../../api/resources/campaign.ts'
import type { TimeSlices } from '../../../lib/concurrency.ts'
import { adhocChunks } from '../audience/adhoc.ts'
import { missingAudience, resolveAudience } from '../audience/audience.ts'
import { contactsById, recipientEligibility } from '../audience/eligibility.ts'
import {
  type Candidate,
  countContacts,
  type Counted,
  countPending,
  listContacts,
  listPending,
  type PendingRow,
} from '../audience/repository.ts'
import type { AdhocRecipients, CampaignRow } from '../campaign.ts'
import type { CampaignDeps } from '../deps.ts'
import { findAdhocRecipients } from '../repository.ts'
import { type AudienceSource, hasStopped } from '../../contacts/service.ts'
import type { Db, Transaction } from '../../../platform/database/sql.ts'

const chunkRows = 1000
const contactsMax = 100_000

export interface CandidateChunk {
  readonly rows: readonly Candidate[]
  readonly after: string | null
}

export interface RehearsedAudience {
  count(sql: Transaction, slices: TimeSlices): Promise<Counted[]>
  chunk(sql: Transaction, after: string, slices: TimeSlices): Promise<CandidateChunk>
}

/**
 * null if the snapshot was completed after the row was read. 404 `resource_missing`. `marketing`: opt-outs from
 * marketing count too.
 */
export async function rehearsedAudience(
  deps: CampaignDeps,
  sql: Db,
  row: CampaignRow,
  marketing: boolean,
  adhoc?: AdhocRecipients,
): Promise<RehearsedAudience | null> {
  if (row.snapshot_at !== null) return pendingAudience(deps, row, marketing)
  const source = await resolveAudience(deps, sql, row)
  if (source.kind === 'completed') return null
  if (source.kind === 'adhoc') return adhocAudience(deps, row, marketing, adhoc)
  if (source.kind !== 'missing') return contactsAudience(deps, row, source, marketing)
  throw missingAudience(row.audience)
}

function contactsAudience(
  { contacts }: CampaignDeps,
  row: CampaignRow,
  source: AudienceSource,
  marketing: boolean,
): RehearsedAudience {
  const audience = { source, channel_type: row.channel_type, marketing, require_opt_in: row.require_opt_in }
  const own_timezones = row.recipient_timezone
  let among = chunkRows
  return {
    count: (sql) =>
      countContacts(sql, contacts.audienceRows(sql, row, { ...audience, after: '', until: null }), own_timezones),
    async chunk(sql, after) {
      const until = await contacts.chunkEnd(sql, row, source, after, among)
      const rows = await listContacts(
        sql,
        contacts.audienceRows(sql, row, { ...audience, after, until }),
        own_timezones,
        chunkRows,
      )
      const isFull = rows.length === chunkRows
      among = isFull ? Math.max(among / 4, chunkRows) : Math.min(among * 4, contactsMax)
      return { rows, after: isFull ? rows.at(-1)!.contact_id : until }
    },
  }
}

function adhocAudience(
  deps: CampaignDeps,
  row: CampaignRow,
  marketing: boolean,
  given: AdhocRecipients | undefined,
): RehearsedAudience {
  let stored = given
  const storedRecipients = async (sql: Transaction): Promise<AdhocRecipients> =>
    (stored ??= (await findAdhocRecipients(sql, row, row.id)) ?? [])
  return {
    async count(sql, slices) {
      const groups = new Map<string, { -readonly [K in keyof Counted]: Counted[K] }>()
      for await (const recipients of adhocChunks(deps, sql, row, await storedRecipients(sql), marketing)) {
        for (const { skip_reason, timezone } of recipients) {
          const key = `${skip_reason} ${timezone}`
          const group = groups.get(key)
          if (group === undefined) groups.set(key, { skip_reason, timezone, submitted: false, count: 1 })
          else group.count++
        }
        await slices.next()
      }
      return [...groups.values()]
    },
    async chunk(sql, after) {
      const [given, from] = [await storedRecipients(sql), Number(after)]
      const { value: recipients = [] } = await adhocChunks(deps, sql, row, given, marketing, from).next()
      const next = from + recipients.length
      return {
        rows: recipients.map((recipient) => ({ ...recipient, submitted: false })),
        after: next < given.length ? String(next) : null,
      }
    },
  }
}

function pendingAudience(deps: CampaignDeps, row: CampaignRow, marketing: boolean): RehearsedAudience {
  return {
    count: (sql) => countPending(sql, row),
    async chunk(sql, after) {
      const rows = await pendingRecipients(deps, sql, row, Number(after), chunkRows, marketing)
      return { rows, after: rows.length < chunkRows ? null : String(rows.at(-1)!.n) }
    },
  }
}

/** Above number `after`, with the checks made just before sending. */
async function pendingRecipients(
  deps: CampaignDeps,
  sql: Transaction,
  row: CampaignRow,
  after: number,
  limit: number,
  marketing: boolean,
): Promise<PendingRow[]> {
  const waiting = await listPending(sql, row, after, limit)
  const unsent = waiting.filter(({ submitted }) => !submitted)
  const to = unsent.map((recipient) => recipient.to)
  const eligibility = await recipientEligibility(deps, sql, row, to, marketing)
  const blocked = new Set(unsent.filter((_, i) => eligibility[i]!.blocked).map(({ n }) => n))
  const contacts = await contactsById(deps, sql, row, unsent)
  return waiting.map((recipient) => {
    const { n, contact_id, submitted } = recipient
    if (submitted) return recipient
    const contact = contacts.get(contact_id ?? '')
    const reasons: [boolean, SkipReason][] = [
      [contact_id !== null && contact === undefined, 'contact_deleted'],
      [row.require_opt_in && contact?.consent[row.channel_type]?.status !== 'opted_in', 'not_opted_in'],
      [blocked.has(n) || (contact !== undefined && hasStopped(contact, row.channel_type, marketing)), 'unsubscribed'],
    ]
    return { ...recipient, skip_reason: reasons.find(([holds]) => holds)?.[1] ?? null }
  })
}
