/** One transaction of reporting: which of its events are new, what follows from them, and their receipts (behaviour: integrations 3.1, 3.3, 3.5). */
import { isId } from '../../../api/ids.ts'
import { Problem, missing } from '../../../api/problem.ts'
import type { RunOfEvent } from '../../../api/resources/automation-run.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { LostRace, type ContactRow, type ContactService } from '../../contacts/service.ts'
import { activeAutomationsOf } from '../automations/store.ts'
import { cancelWaiting, insertRuns, listRunsOfEvents, restartDelays, type CustomerEvent } from '../runs/store.ts'
import { shareSources, type ReportingSource } from '../sources/store.ts'
import { consequencesOf, customerKeys, type Consequence } from './matching.ts'
import { receiptObject } from './present.ts'
import { contactsOf, ownersOf } from './contact-sync.ts'
import type { Report, Reported } from './reported.ts'
import { findReceipts, findReported, insertReceipts, lockCustomers, type EventKey, type NewReceipt } from './store.ts'

/** Of each report what it comes to, or the Problem that refuses it. */
export type Outcomes = Map<Report, Reported | Problem>

/** The answer of one report could not be kept, for `problem`: the others are accepted without it. */
export class NotKept extends Error {
  readonly report: Report
  readonly problem: Problem
  constructor(report: Report, problem: Problem) {
    super(problem.message)
    this.report = report
    this.problem = problem
  }
}

export interface AcceptDeps {
  readonly platform: Platform
  readonly contacts: ContactService
}

/**
 * Accepts reports in `tx`, in their order; as `failed`, they are stored and not looked at. Throws `LostRace` and `NotKept`, and whatever the database refuses; nothing
 * of what it did counts then.
 */
export async function acceptReports(
  deps: AcceptDeps,
  tx: Transaction,
  reports: readonly Report[],
  as: 'reported' | 'failed' = 'reported',
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map()
  // sent without waiting for each other's answers; nothing of the sources changes any more when the others are read
  const ids = [...new Set(reports.map(({ event }) => event.source.id))]
  const [shared, known, active, owners] = await Promise.all([
    shareSources(tx, ids),
    findReported(tx, reports.map(keyOf)),
    activeAutomationsOf(tx, ids),
    ownersOf(deps.contacts, tx, reports),
  ])
  const sources = new Map(shared.map((row) => [row.id, row]))
  const reporting = reports.filter((report) => {
    const refusal = refusalOf(report, sources.get(report.event.source.id))
    if (refusal !== null) outcomes.set(report, refusal)
    return refusal === null
  })
  const { fresh, again } = parted(reporting, known)
  const contacts =
    as === 'failed' ? new Map<Report, ContactRow>() : await contactsOf(deps.contacts, tx, fresh, sources, owners)
  const consequences =
    as === 'failed' ? failedOf(fresh) : await consequencesOf(deps.platform, tx, fresh, { sources, contacts, active })
  await write(tx, fresh, contacts, consequences, outcomes)
  await answerAgain(tx, again, outcomes)
  for (const report of reports) {
    const outcome = outcomes.get(report)!
    if (report.keep === undefined || outcome instanceof Problem) continue
    await report.keep(tx, outcome).catch((error: unknown) => {
      throw error instanceof Problem ? new NotKept(report, error) : error
    })
  }
  return outcomes
}

const failedOf = (reports: readonly Report[]): Map<Report, Consequence> =>
  new Map(
    reports.map((report) => [
      report,
      { status: 'failed', reason: null, runs: [], restarted: [], cancels: [], may_be_cancelled: false },
    ]),
  )

/** Writes receipts and runs, and lets go what waits no longer for their customers. */
async function write(
  tx: Transaction,
  fresh: readonly Report[],
  contacts: ReadonlyMap<Report, ContactRow>,
  consequences: ReadonlyMap<Report, Consequence>,
  outcomes: Outcomes,
): Promise<void> {
  if (fresh.length === 0) return
  const receipts = fresh.map((report) => receiptOf(report, contacts.get(report), consequences.get(report)!))
  // with all events of their sources: which of those that come together was first is told by them
  const cancelling = new Set(
    fresh.flatMap((report) => (consequences.get(report)!.cancels.length > 0 ? [report.event.source.id] : [])),
  )
  const told = fresh.flatMap((report) =>
    cancelling.has(report.event.source.id) ? [customerEvent(report, consequences.get(report)!.cancels)] : [],
  )
  const restarted = fresh.flatMap((report) => {
    const automation_ids = consequences.get(report)!.restarted
    return automation_ids.length === 0 ? [] : [customerEvent(report, automation_ids)]
  })
  const runs = fresh.flatMap((report) => consequences.get(report)!.runs)
  await lockCustomers(
    tx,
    fresh.flatMap((report) => (concernsOthers(consequences.get(report)!) ? customerKeys(report.event) : [])),
  )
  const [written] = await Promise.all([insertReceipts(tx, receipts), insertRuns(tx, runs)])
  if (written < receipts.length) throw new LostRace()
  await cancelWaiting(tx, told)
  await restartDelays(tx, restarted)
  for (const [index, report] of fresh.entries()) {
    const shown = consequences
      .get(report)!
      .runs.map(({ id, automation_id, status, scheduled_for, reason }): RunOfEvent => {
        return { id, automation_id, status, scheduled_for, message_id: null, reason }
      })
    outcomes.set(report, { receipt: receiptObject(receipts[index]!, shown), duplicate: false })
  }
}

/** It lets go what another event has left waiting, or another one lets go what it leaves: the two must not pass by each other. */
const concernsOthers = ({ cancels, restarted, may_be_cancelled }: Consequence): boolean =>
  cancels.length > 0 || restarted.length > 0 || may_be_cancelled

function customerEvent({ event, id }: Report, automation_ids: readonly string[]): CustomerEvent {
  const { account_id, mode, id: source_id } = event.source
  return { account_id, mode, id, source_id, customer_keys: customerKeys(event), automation_ids }
}

function refusalOf({ event: { source } }: Report, row: ReportingSource | undefined): Problem | null {
  if (!isId('src', source.id) || row?.account_id !== source.account_id || row.mode !== source.mode)
    return missing('integration source', source.id, 'source')
  return row.status === 'disabled'
    ? new Problem(
        'source_disabled',
        `The integration source ${source.id} is disabled. Set its \`status\` to \`active\` with PATCH /v1/integration_sources/${source.id}.`,
      )
    : null
}

const keyOf = ({ event: { source, event_id, once_key } }: Report): EventKey => ({
  source_id: source.id,
  event_id,
  once_key: once_key ?? null,
})

/** The names under which an event is known; no text that a source gives can pass for the other kind. */
const namesOf = ({ source_id, event_id, once_key }: EventKey): string[] => [
  `${source_id}|id|${event_id}`,
  ...(once_key === null ? [] : [`${source_id}|once|${once_key}`]),
]

/** Those that are new, and those that were reported before, each with the id of its first receipt. */
function parted(
  reports: readonly Report[],
  stored: readonly (EventKey & { readonly id: string })[],
): { fresh: Report[]; again: Map<Report, string> } {
  const known = new Map(stored.flatMap((found) => namesOf(found).map((name) => [name, found.id])))
  const fresh: Report[] = []
  const again = new Map<Report, string>()
  for (const report of reports) {
    const names = namesOf(keyOf(report))
    const first = names.map((name) => known.get(name)).find((id) => id !== undefined)
    if (first !== undefined) again.set(report, first)
    else {
      fresh.push(report)
      for (const name of names) known.set(name, report.id)
    }
  }
  return { fresh, again }
}

function receiptOf(
  { event, id, at, data_json }: Report,
  contact: ContactRow | undefined,
  { status, reason }: Consequence,
): NewReceipt {
  const { source, type, event_id, once_key, origin, customer, consent, data, occurred_at } = event
  const { account_id, mode } = source
  // the status is free for another topic of the order, which may say whom to write to (behaviour: integrations 3.4)
  const isFree = reason === 'no_identifier'
  return {
    account_id,
    mode,
    id,
    source_id: source.id,
    type,
    event_id,
    once_key: isFree ? null : (once_key ?? null),
    freed_once_key: isFree ? (once_key ?? null) : null,
    origin,
    status,
    reason,
    contact_id: contact?.id ?? null,
    customer,
    consent,
    data,
    data_json,
    occurred_at,
    created_at: at,
  }
}

/** Answers what was reported before with the first receipt. One that this process wrote itself, before it lost the connection, is no duplicate. */
async function answerAgain(tx: Transaction, again: ReadonlyMap<Report, string>, outcomes: Outcomes): Promise<void> {
  if (again.size === 0) return
  const ids = [...new Set(again.values())]
  const rows = new Map((await findReceipts(tx, ids)).map((row) => [row.id, row]))
  const runs = await listRunsOfEvents(tx, ids)
  for (const [report, id] of again) {
    const row = rows.get(id)
    if (row === undefined) throw new LostRace()
    const duplicate = id !== report.id
    outcomes.set(report, { receipt: receiptObject(row, runs.get(id) ?? [], duplicate), duplicate })
  }
}
