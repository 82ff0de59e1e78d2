/** Matches events with automations: their runs, and the status of each receipt (behaviour: integrations 3.6, 3.11). */
import type { Tenant } from '../../../api/caller.ts'
import type { EventCustomer, ReceiptReason } from '../../../api/resources/automation-event.ts'
import { isPhoneChannel } from '../../../api/resources/channel.ts'
import { normalisePhone, phoneKey } from '../../../lib/phone.ts'
import { TimeSlices } from '../../../lib/concurrency.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import {
  addressKeyOf,
  findEligibility,
  marketingType,
  suppressionHash,
  type ContactRow,
  type RecipientKey,
} from '../../contacts/service.ts'
import type { ActiveAutomation } from '../automation.ts'
import { conditionsMet } from '../conditions.ts'
import type { NewRun } from '../runs/run.ts'
import type { ReportingSource } from '../sources/repository.ts'
import { phoneOf } from './contact-sync.ts'
import type { PendingEvent } from './event.ts'
import { scheduleOf, type Recipient, type Schedule, type SkipReason } from './scheduling.ts'

export interface MatchResult {
  readonly status: 'accepted' | 'ignored' | 'skipped' | 'failed'
  readonly reason: ReceiptReason | null
  readonly runs: readonly NewRun[]
  /** Their waiting runs for the same customer are cancelled, because the delay restarts. */
  readonly restarted: readonly string[]
  /** Their waiting runs for the same customer are cancelled, because `cancel_on` names the type. */
  readonly cancels: readonly string[]
  readonly may_be_cancelled: boolean
}

interface Match {
  readonly pending: PendingEvent
  readonly automation: ActiveAutomation
  readonly contact: ContactRow | undefined
  readonly conditions_met: boolean
  readonly to: string | null
}

export interface MatchContext {
  readonly sources: ReadonlyMap<string, ReportingSource>
  readonly contacts: ReadonlyMap<PendingEvent, ContactRow>
  readonly active: readonly ActiveAutomation[]
}

export async function matchEvents(
  platform: Platform,
  tx: Db,
  batch: readonly PendingEvent[],
  { sources, contacts, active }: MatchContext,
): Promise<Map<PendingEvent, MatchResult>> {
  const results = new Map<PendingEvent, MatchResult>()
  const byTrigger = Map.groupBy(active, ({ source_id, event_type }) => `${source_id} ${event_type}`)
  const byCancelOn = cancellingAutomations(active)
  const matches = new Map<PendingEvent, Match[]>()
  const slices = new TimeSlices()
  for (const pending of batch) {
    const automations = pending.event.unmapped === true ? [] : (byTrigger.get(triggerOf(pending)) ?? [])
    const own = await matchesOf(platform, pending, automations, contacts.get(pending), slices)
    if (own === null)
      results.set(pending, { ...ignored, status: 'failed', cancels: byCancelOn.get(triggerOf(pending)) ?? [] })
    else matches.set(pending, own)
  }
  const recipients = await recipientsOf(platform, tx, [...matches.values()].flat())
  for (const [pending, own] of matches) {
    const result = resultOf(platform, pending, own, sources.get(pending.event.source.id)!, recipients)
    results.set(pending, {
      ...result,
      cancels: pending.event.unmapped === true ? [] : (byCancelOn.get(triggerOf(pending)) ?? []),
    })
  }
  return results
}

export async function matchOne(
  platform: Platform,
  sql: Db,
  pending: PendingEvent,
  automation: ActiveAutomation,
  source: Pick<ReportingSource, 'consent_mode'>,
  contact: ContactRow | undefined,
): Promise<Schedule & { readonly to: string | null }> {
  const matches = await matchesOf(platform, pending, [automation], contact, new TimeSlices())
  if (matches === null) throw new Error(`the conditions of ${automation.id} could not be evaluated`)
  const recipients = await recipientsOf(platform, sql, matches)
  const [{ conditions_met, to }] = matches as [Match]
  const recipient = recipients.get(matches[0]!)!
  return {
    ...scheduleOf(
      { source, automation, consent: pending.event.consent, conditions_met, recipient },
      Date.parse(pending.at),
    ),
    to,
  }
}

function cancellingAutomations(active: readonly ActiveAutomation[]): Map<string, string[]> {
  const cancelling = new Map<string, string[]>()
  for (const { id, source_id, cancel_on } of active)
    for (const type of cancel_on) {
      const trigger = `${source_id} ${type}`
      cancelling.set(trigger, [...(cancelling.get(trigger) ?? []), id])
    }
  return cancelling
}

const ignored = { status: 'ignored', reason: null, runs: [], restarted: [], may_be_cancelled: false } as const

const triggerOf = ({ event: { source, type } }: PendingEvent): string => `${source.id} ${type}`

/** null if conditions cannot be evaluated: a bug, which fails this event only. */
async function matchesOf(
  { log }: Platform,
  pending: PendingEvent,
  automations: readonly ActiveAutomation[],
  contact: ContactRow | undefined,
  slices: TimeSlices,
): Promise<Match[] | null> {
  const matches: Match[] = []
  for (const automation of automations) {
    await slices.next()
    try {
      matches.push({
        pending,
        automation,
        contact,
        conditions_met: conditionsMet(automation.conditions, pending.event, Date.parse(pending.at)),
        to: recipientOf(automation.channel_type, pending.event.customer, contact),
      })
    } catch (error) {
      log.error(
        { err: error, automation_event_id: pending.id, automation_id: automation.id },
        'the conditions of an automation could not be evaluated',
      )
      return null
    }
  }
  return matches
}

/** The phone number of the event, else the contact's address. */
function recipientOf(
  channel_type: string,
  customer: EventCustomer,
  contact: Pick<ContactRow, 'phone' | 'identifiers'> | undefined,
): string | null {
  const identifier = contact?.identifiers[channel_type] ?? null
  if (!isPhoneChannel(channel_type)) return identifier
  return (typeof customer.phone === 'string' ? normalisePhone(customer.phone) : null) ?? contact?.phone ?? identifier
}

async function recipientsOf(platform: Platform, sql: Db, matches: readonly Match[]): Promise<Map<Match, Recipient>> {
  const requested: { match: Match; key: RecipientKey }[] = []
  for (const match of matches) {
    if (match.to === null || !match.conditions_met) continue
    requested.push({ match, key: recipientKey(platform, match, match.automation.channel_type) })
    if (match.automation.category === 'marketing')
      requested.push({ match, key: recipientKey(platform, match, marketingType(match.automation.channel_type)) })
  }
  const found = await findEligibility(
    sql,
    requested.map(({ key }) => key),
    matches[0]?.pending.at ?? '',
  )
  const recipients = new Map<Match, Recipient>(
    matches.map((match) => [match, { to: match.to, blocked: false, stopped_marketing: false }]),
  )
  for (const [index, { match, key }] of requested.entries()) {
    if (found[index]!.verdict === null) continue
    const block = key.channel_type === match.automation.channel_type ? { blocked: true } : { stopped_marketing: true }
    recipients.set(match, { ...recipients.get(match)!, ...block })
  }
  return recipients
}

function recipientKey({ secrets }: Platform, { automation, to }: Match, channel_type: string): RecipientKey {
  const tenant: Tenant = automation
  const { kind, address } = addressKeyOf(automation.channel_type, to!)
  const { account_id, mode } = tenant
  return {
    account_id,
    mode,
    channel_id: automation.channel_id,
    channel_type,
    kind,
    address,
    suppression: suppressionHash(secrets, tenant, channel_type, address),
    windowed: false,
  }
}

function resultOf(
  { ids }: Platform,
  pending: PendingEvent,
  matches: readonly Match[],
  source: ReportingSource,
  recipients: ReadonlyMap<Match, Recipient>,
): Omit<MatchResult, 'cancels'> {
  const { event, at } = pending
  if (matches.length === 0) return { ...ignored, reason: event.unmapped === true ? 'unmapped_topic' : 'no_automation' }
  const customer_keys = customerKeys(event)
  const runs = matches.map((match): NewRun => {
    const { automation, contact, conditions_met, to } = match
    const schedule = scheduleOf(
      { source, automation, consent: event.consent, conditions_met, recipient: recipients.get(match)! },
      Date.parse(at),
    )
    return {
      account_id: source.account_id,
      mode: source.mode,
      id: ids('run'),
      source_id: source.id,
      automation_id: automation.id,
      automation_event_id: pending.id,
      contact_id: contact?.id ?? null,
      ...schedule,
      customer_keys,
      channel_type: automation.channel_type,
      to,
      event_type: event.type,
      created_at: at,
    }
  })
  const scheduled = runs.some(({ status }) => status === 'scheduled')
  return {
    status: scheduled ? 'accepted' : 'skipped',
    reason: scheduled ? null : receiptReason(runs),
    runs,
    restarted: restartedBy(event.type, runs),
    may_be_cancelled: matches.some(({ automation }) => automation.cancel_on.length > 0),
  }
}

/** The last check first: the receipt shows the run that came nearest to being sent. */
const reasonsByProgress: readonly SkipReason[] = [
  'unsubscribed',
  'consent_missing',
  'no_identifier',
  'condition_not_met',
]

const receiptReason = (runs: readonly NewRun[]): SkipReason =>
  reasonsByProgress.find((reason) => runs.some((run) => run.reason === reason))!

/**
 * The newest event of a cart or checkout counts, even if it sends nothing itself. One without an address adds no
 * information.
 */
const restartedBy = (type: string, runs: readonly NewRun[]): string[] =>
  /^(?:cart|checkout)\./.test(type)
    ? runs.flatMap(({ reason, automation_id }) => (reason === 'no_identifier' ? [] : [automation_id]))
    : []

/** Blank values and invalid e-mail addresses identify nobody (behaviour: integrations 3.13). */
export function customerKeys({ source, customer }: Pick<PendingEvent['event'], 'source' | 'customer'>): string[] {
  const phone = phoneOf(customer)
  const [email, external_id] = [customer.email?.trim().toLowerCase() ?? '', customer.external_id?.trim() ?? '']
  return [
    ...(phone === null ? [] : [`${source.id}|phone:${phoneKey(phone)}`]),
    ...(/^[^\s@]+@[^\s@]+$/.test(email) ? [`${source.id}|email:${email}`] : []),
    ...(external_id === '' ? [] : [`${source.id}|id:${external_id}`]),
  ]
}
