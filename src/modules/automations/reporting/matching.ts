/** Which automations are for reported events, and what each does about them: the runs, and what the receipts say (behaviour: integrations 3.6, 3.11). */
import type { Tenant } from '../../../api/caller.ts'
import type { ReceiptReason } from '../../../api/resources/automation-event.ts'
import { phoneKey } from '../../../lib/phone.ts'
import { Turns } from '../../../lib/turns.ts'
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
import { conditionsMet } from '../automations/conditions.ts'
import type { ActiveAutomation } from '../automations/store.ts'
import { recipientOf } from '../runs/recipient.ts'
import type { NewRun } from '../runs/store.ts'
import type { ReportingSource } from '../sources/store.ts'
import { phoneOf } from './contact-sync.ts'
import { verdictOf, type Verdict, type Recipient, type SkipReason } from './verdict.ts'
import type { Report } from './reported.ts'

/** What follows from an event. */
export interface Consequence {
  readonly status: 'accepted' | 'ignored' | 'skipped' | 'failed'
  readonly reason: ReceiptReason | null
  readonly runs: readonly NewRun[]
  /** Automations whose delay begins anew: what waits of them for the same customer is let go. */
  readonly restarted: readonly string[]
  /** Automations whose `cancel_on` names its type: they let go what waits for the same customer. */
  readonly cancels: readonly string[]
  /** A later event may let go what it leaves waiting. */
  readonly may_be_cancelled: boolean
}

interface Pair {
  readonly report: Report
  readonly automation: ActiveAutomation
  readonly contact: ContactRow | undefined
  readonly conditions_met: boolean
  readonly to: string | null
}

/** What is known of those who report. */
export interface Reporters {
  readonly sources: ReadonlyMap<string, ReportingSource>
  /** Whom customers are. */
  readonly contacts: ReadonlyMap<Report, ContactRow>
  /** The active automations of the sources. */
  readonly active: readonly ActiveAutomation[]
}

/** What follows from each report. */
export async function consequencesOf(
  platform: Platform,
  tx: Db,
  reports: readonly Report[],
  { sources, contacts, active }: Reporters,
): Promise<Map<Report, Consequence>> {
  const consequences = new Map<Report, Consequence>()
  const byEvent = Map.groupBy(active, ({ source_id, event_type }) => `${source_id} ${event_type}`)
  const cancelling = cancellingOf(active)
  const pairs = new Map<Report, Pair[]>()
  const turns = new Turns()
  for (const report of reports) {
    const automations = report.event.unmapped === true ? [] : (byEvent.get(nameOf(report)) ?? [])
    const own = await pairsOf(platform, report, automations, contacts.get(report), turns)
    if (own === null)
      consequences.set(report, { ...nothing, status: 'failed', cancels: cancelling.get(nameOf(report)) ?? [] })
    else pairs.set(report, own)
  }
  const recipients = await recipientsOf(platform, tx, [...pairs.values()].flat())
  for (const [report, own] of pairs) {
    const consequence = consequenceOf(platform, report, own, sources.get(report.event.source.id)!, recipients)
    consequences.set(report, {
      ...consequence,
      cancels: report.event.unmapped === true ? [] : (cancelling.get(nameOf(report)) ?? []),
    })
  }
  return consequences
}

/** What one automation does about an event, and whom its message goes to: as for an event that is reported. `contact`: whom the customer is. */
export async function matchOf(
  platform: Platform,
  sql: Db,
  report: Report,
  automation: ActiveAutomation,
  source: Pick<ReportingSource, 'consent_mode'>,
  contact: ContactRow | undefined,
): Promise<Verdict & { readonly to: string | null }> {
  const pairs = await pairsOf(platform, report, [automation], contact, new Turns())
  if (pairs === null) throw new Error(`the conditions of ${automation.id} could not be looked at`)
  const recipients = await recipientsOf(platform, sql, pairs)
  const [{ conditions_met, to }] = pairs as [Pair]
  const recipient = recipients.get(pairs[0]!)!
  return {
    ...verdictOf(
      { source, automation, consent: report.event.consent, conditions_met, recipient },
      Date.parse(report.at),
    ),
    to,
  }
}

/** The automations that an event cancels, by its name. */
function cancellingOf(active: readonly ActiveAutomation[]): Map<string, string[]> {
  const cancelling = new Map<string, string[]>()
  for (const { id, source_id, cancel_on } of active)
    for (const type of cancel_on) {
      const name = `${source_id} ${type}`
      cancelling.set(name, [...(cancelling.get(name) ?? []), id])
    }
  return cancelling
}

const nothing = { status: 'ignored', reason: null, runs: [], restarted: [], may_be_cancelled: false } as const

const nameOf = ({ event: { source, type } }: Report): string => `${source.id} ${type}`

/** An event with each automation that is for it; null where one cannot be asked, which is a bug that holds no other event up. */
async function pairsOf(
  { log }: Platform,
  report: Report,
  automations: readonly ActiveAutomation[],
  contact: ContactRow | undefined,
  turns: Turns,
): Promise<Pair[] | null> {
  const pairs: Pair[] = []
  for (const automation of automations) {
    // conditions may take milliseconds, and a source may have a hundred automations
    await turns.next()
    try {
      const conditions_met = conditionsMet(automation.conditions, report.event, Date.parse(report.at))
      pairs.push({
        report,
        automation,
        contact,
        conditions_met,
        to: recipientOf(automation.channel_type, report.event.customer, contact),
      })
    } catch (error) {
      log.error(
        { err: error, automation_event_id: report.id },
        'the conditions of an automation could not be looked at for an event',
      )
      return null
    }
  }
  return pairs
}

/** Whether those may be written to whom pairs name, in their order: asked once for all of them. */
async function recipientsOf(platform: Platform, sql: Db, pairs: readonly Pair[]): Promise<Map<Pair, Recipient>> {
  const asked: { pair: Pair; key: RecipientKey }[] = []
  for (const pair of pairs) {
    if (pair.to === null || !pair.conditions_met) continue
    asked.push({ pair, key: recipientKey(platform, pair, pair.automation.channel_type) })
    if (pair.automation.category === 'marketing')
      asked.push({ pair, key: recipientKey(platform, pair, marketingType(pair.automation.channel_type)) })
  }
  const found = await findEligibility(
    sql,
    asked.map(({ key }) => key),
    pairs[0]?.report.at ?? '',
  )
  const recipients = new Map<Pair, Recipient>(
    pairs.map((pair) => [pair, { to: pair.to, blocked: false, stopped_marketing: false }]),
  )
  for (const [index, { pair, key }] of asked.entries()) {
    if (found[index]!.verdict === null) continue
    const what = key.channel_type === pair.automation.channel_type ? { blocked: true } : { stopped_marketing: true }
    recipients.set(pair, { ...recipients.get(pair)!, ...what })
  }
  return recipients
}

function recipientKey({ secrets }: Platform, { automation, to }: Pair, channel_type: string): RecipientKey {
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

function consequenceOf(
  { ids }: Platform,
  report: Report,
  pairs: readonly Pair[],
  source: ReportingSource,
  recipients: ReadonlyMap<Pair, Recipient>,
): Omit<Consequence, 'cancels'> {
  const { event, at } = report
  if (pairs.length === 0) return { ...nothing, reason: event.unmapped === true ? 'unmapped_topic' : 'no_automation' }
  const customer_keys = customerKeys(event)
  const runs = pairs.map((pair): NewRun => {
    const { automation, contact, conditions_met, to } = pair
    const verdict = verdictOf(
      { source, automation, consent: event.consent, conditions_met, recipient: recipients.get(pair)! },
      Date.parse(at),
    )
    return {
      account_id: source.account_id,
      mode: source.mode,
      id: ids('run'),
      source_id: source.id,
      automation_id: automation.id,
      automation_event_id: report.id,
      contact_id: contact?.id ?? null,
      ...verdict,
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
    reason: scheduled ? null : nearestOf(runs),
    runs,
    restarted: restartedBy(event.type, runs),
    may_be_cancelled: pairs.some(({ automation }) => automation.cancel_on.length > 0),
  }
}

/** In the order in which they are asked, the last first: what kept the message that came nearest to being sent. */
const nearest: readonly SkipReason[] = ['unsubscribed', 'consent_missing', 'no_identifier', 'condition_not_met']

const nearestOf = (runs: readonly NewRun[]): SkipReason =>
  nearest.find((reason) => runs.some((run) => run.reason === reason))!

/** For carts and checkouts the newest event counts, whatever keeps it from a message of its own: what waits of the automation is let go. One that names nobody to write to tells less, not more. */
const restartedBy = (type: string, runs: readonly NewRun[]): string[] =>
  /^(?:cart|checkout)\./.test(type)
    ? runs.flatMap(({ reason, automation_id }) => (reason === 'no_identifier' ? [] : [automation_id]))
    : []

/** The customer within the source, by everything that an event tells of him; nothing that is blank or no e-mail address tells anybody apart (behaviour: integrations 3.13). */
export function customerKeys({ source, customer }: Pick<Report['event'], 'source' | 'customer'>): string[] {
  const phone = phoneOf(customer)
  const [email, external_id] = [customer.email?.trim().toLowerCase() ?? '', customer.external_id?.trim() ?? '']
  return [
    ...(phone === null ? [] : [`${source.id}|phone:${phoneKey(phone)}`]),
    ...(/^[^\s@]+@[^\s@]+$/.test(email) ? [`${source.id}|email:${email}`] : []),
    ...(external_id === '' ? [] : [`${source.id}|id:${external_id}`]),
  ]
}
