/** Accepts a batch of events in one transaction (behaviour: integrations 3.1, 3.3, 3.5). */
import { isId } from '../../../api/ids.ts'
import { missing, Problem } from '../../../api/problem.ts'
import type { RunOfEvent } from '../../../api/resources/automation-run.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { WriteConflict, type ContactRow, type ContactService } from '../../contacts/service.ts'
import { activeAutomationsOf } from '../repository.ts'
import { cancelWaiting, insertRuns, listRunsOfEvents, restartDelays, type CustomerEvent } from '../runs/repository.ts'
import { shareSources, type ReportingSource } from '../sources/repository.ts'
import { contactsOf, ownersOf } from './contact-sync.ts'
import type { AcceptedEvent, PendingEvent } from './event.ts'
import { customerKeys, matchEvents, type MatchResult } from './matching.ts'
import { receiptObject, type NewReceipt } from './receipt.ts'
import { findKnown, findReceipts, insertReceipts, lockCustomers, type EventKey } from './repository.ts'

export type Outcomes = Map<PendingEvent, AcceptedEvent | Problem>

export class BeforeCommitError extends Error {
  readonly pending: PendingEvent
  readonly problem: Problem
  constructor(pending: PendingEvent, problem: Problem) {
    super(problem.message)
    this.pending = pending
    this.problem = problem
  }
}

export interface AcceptDeps {
  readonly platform: Platform
  readonly contacts: ContactService
}

/**
 * In order. With `as` `failed`, automations are not matched. Throws `WriteConflict`, `BeforeCommitError` and database
 * errors.
 */
export async function acceptEvents(
  deps: AcceptDeps,
  tx: Transaction,
  batch: readonly PendingEvent[],
  as: 'reported' | 'failed' = 'reported',
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map()
  // pipelined; locked sources keep the other reads current
  const ids = [...new Set(batch.map(({ event }) => event.source.id))]
  const [locked, known, active, owners] = await Promise.all([
    shareSources(tx, ids),
    findKnown(tx, batch.map(keyOf)),
    activeAutomationsOf(tx, ids),
    ownersOf(deps.contacts, tx, batch),
  ])
  const sources = new Map(locked.map((row) => [row.id, row]))
  const allowed = batch.filter((pending) => {
    const refusal = refusalOf(pending, sources.get(pending.event.source.id))
    if (refusal !== null) outcomes.set(pending, refusal)
    return refusal === null
  })
  const { fresh, duplicates } = splitDuplicates(allowed, known)
  const contacts =
    as === 'failed' ? new Map<PendingEvent, ContactRow>() : await contactsOf(deps.contacts, tx, fresh, sources, owners)
  const results =
    as === 'failed' ? failedResults(fresh) : await matchEvents(deps.platform, tx, fresh, { sources, contacts, active })
  await write(tx, fresh, contacts, results, outcomes)
  await answerDuplicates(tx, duplicates, outcomes)
  for (const pending of batch) {
    const outcome = outcomes.get(pending)!
    if (pending.before_commit === undefined || outcome instanceof Problem) continue
    await pending.before_commit(tx, outcome).catch((error: unknown) => {
      throw error instanceof Problem ? new BeforeCommitError(pending, error) : error
    })
  }
  return outcomes
}

const failedResults = (batch: readonly PendingEvent[]): Map<PendingEvent, MatchResult> =>
  new Map(
    batch.map((pending) => [
      pending,
      { status: 'failed', reason: null, runs: [], restarted: [], cancels: [], may_be_cancelled: false },
    ]),
  )

async function write(
  tx: Transaction,
  fresh: readonly PendingEvent[],
  contacts: ReadonlyMap<PendingEvent, ContactRow>,
  results: ReadonlyMap<PendingEvent, MatchResult>,
  outcomes: Outcomes,
): Promise<void> {
  if (fresh.length === 0) return
  const receipts = fresh.map((pending) => newReceipt(pending, contacts.get(pending), results.get(pending)!))
  // all events of such a source: their order decides which runs came before a cancelling event
  const cancelling = new Set(
    fresh.flatMap((pending) => (results.get(pending)!.cancels.length > 0 ? [pending.event.source.id] : [])),
  )
  const cancelled = fresh.flatMap((pending) =>
    cancelling.has(pending.event.source.id) ? [customerEvent(pending, results.get(pending)!.cancels)] : [],
  )
  const restarted = fresh.flatMap((pending) => {
    const automation_ids = results.get(pending)!.restarted
    return automation_ids.length === 0 ? [] : [customerEvent(pending, automation_ids)]
  })
  const runs = fresh.flatMap((pending) => results.get(pending)!.runs)
  await lockCustomers(
    tx,
    fresh.flatMap((pending) => (affectsOtherRuns(results.get(pending)!) ? customerKeys(pending.event) : [])),
  )
  const [written] = await Promise.all([insertReceipts(tx, receipts), insertRuns(tx, runs)])
  if (written < receipts.length) throw new WriteConflict()
  await cancelWaiting(tx, cancelled)
  await restartDelays(tx, restarted)
  for (const [index, pending] of fresh.entries()) {
    const shown = results.get(pending)!.runs.map(({ id, automation_id, status, scheduled_for, reason }): RunOfEvent => {
      return { id, automation_id, status, scheduled_for, message_id: null, reason }
    })
    outcomes.set(pending, { receipt: receiptObject(receipts[index]!, shown), duplicate: false })
  }
}

const affectsOtherRuns = ({ cancels, restarted, may_be_cancelled }: MatchResult): boolean =>
  cancels.length > 0 || restarted.length > 0 || may_be_cancelled

function customerEvent({ event, id }: PendingEvent, automation_ids: readonly string[]): CustomerEvent {
  const { account_id, mode, id: source_id } = event.source
  return { account_id, mode, id, source_id, customer_keys: customerKeys(event), automation_ids }
}

function refusalOf({ event: { source } }: PendingEvent, row: ReportingSource | undefined): Problem | null {
  if (!isId('src', source.id) || row?.account_id !== source.account_id || row.mode !== source.mode)
    return missing('integration source', source.id, 'source')
  return row.status === 'disabled'
    ? new Problem(
        'source_disabled',
        `The integration source ${source.id} is disabled. Set its \`status\` to \`active\` with PATCH /v1/integration_sources/${source.id}.`,
      )
    : null
}

const keyOf = ({ event: { source, event_id, dedup_key } }: PendingEvent): EventKey => ({
  source_id: source.id,
  event_id,
  dedup_key: dedup_key ?? null,
})

const duplicateKeysOf = ({ source_id, event_id, dedup_key }: EventKey): string[] => [
  `${source_id}|id|${event_id}`,
  ...(dedup_key === null ? [] : [`${source_id}|once|${dedup_key}`]),
]

function splitDuplicates(
  batch: readonly PendingEvent[],
  stored: readonly (EventKey & { readonly id: string })[],
): { fresh: PendingEvent[]; duplicates: Map<PendingEvent, string> } {
  const known = new Map(stored.flatMap((found) => duplicateKeysOf(found).map((key) => [key, found.id])))
  const fresh: PendingEvent[] = []
  const duplicates = new Map<PendingEvent, string>()
  for (const pending of batch) {
    const keys = duplicateKeysOf(keyOf(pending))
    const first = keys.map((key) => known.get(key)).find((id) => id !== undefined)
    if (first !== undefined) duplicates.set(pending, first)
    else {
      fresh.push(pending)
      for (const key of keys) known.set(key, pending.id)
    }
  }
  return { fresh, duplicates }
}

function newReceipt(
  { event, id, at, data_json }: PendingEvent,
  contact: ContactRow | undefined,
  { status, reason }: MatchResult,
): NewReceipt {
  const { source, type, event_id, dedup_key, origin, customer, consent, data, occurred_at } = event
  const { account_id, mode } = source
  // another topic of the order may report the same status with an address (behaviour: integrations 3.4)
  const isFreed = reason === 'no_identifier'
  return {
    account_id,
    mode,
    id,
    source_id: source.id,
    type,
    event_id,
    dedup_key: isFreed ? null : (dedup_key ?? null),
    freed_dedup_key: isFreed ? (dedup_key ?? null) : null,
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

/** A receipt that this process committed before it lost the connection is no duplicate. */
async function answerDuplicates(
  tx: Transaction,
  duplicates: ReadonlyMap<PendingEvent, string>,
  outcomes: Outcomes,
): Promise<void> {
  if (duplicates.size === 0) return
  const ids = [...new Set(duplicates.values())]
  const rows = new Map((await findReceipts(tx, ids)).map((row) => [row.id, row]))
  const runs = await listRunsOfEvents(tx, ids)
  for (const [pending, id] of duplicates) {
    const row = rows.get(id)
    if (row === undefined) throw new WriteConflict()
    const duplicate = id !== pending.id
    outcomes.set(pending, { receipt: receiptObject(row, runs.get(id) ?? [], duplicate), duplicate })
  }
}
