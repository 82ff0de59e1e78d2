/**
 * Accepts a batch in one optimistic statement or under row locks. Lock order: rows of the producer, wallets, grants,
 * messages.
 */
import { type Db, transact } from '../../../platform/database/sql.ts'
import { type BillingService, type Charge, usageOfCharge } from '../../billing/service.ts'
import { findEligibility, type Ineligible } from '../../contacts/service.ts'
import {
  acceptBatch,
  type AcceptVerdict,
  claimRows,
  insertMessages,
  completeRows,
  type SubmittedRow,
} from './repository.ts'
import { type AcceptRow, type MemoryQueue, messageOf, type Moment, type Paid } from './row.ts'
import { type ItemOutcome, type Place, undecided, type Unit } from './submission.ts'
import type { ProducerFragment, Producers } from './producers.ts'
import type { MessageRow } from '../message.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Projections } from '../projections.ts'

export interface CommitDeps {
  readonly platform: Platform
  readonly billing: BillingService
  readonly projections: Projections
  readonly producers: Producers
  readonly memoryQueue: MemoryQueue
  readonly alone: () => boolean
  /** After their commit. Must not block. */
  readonly onAccepted: (rows: readonly MessageRow[]) => void
}

export async function acceptUnderLocks(deps: CommitDeps, units: readonly Unit[], moment: Moment): Promise<void> {
  const open = undecided(units)
  const producer = deps.producers.fragmentOf(units)
  const decided = await transact(deps.platform.pool, async (tx) => {
    const rows = open.map(({ row }) => row)
    const claimed = producer === null ? null : await claimRows(tx, producer, rows, moment)
    const outcomes = await acceptRows(
      deps,
      tx,
      claimed === null ? rows : rows.filter(({ n }) => claimed.has(n)),
      moment,
    )
    if (producer !== null) await completeRows(tx, producer, submittedRows(units, outcomes), moment)
    return outcomes
  })
  for (const { unit, index, row } of open) {
    const outcome = decided.get(row.n)
    if (outcome !== undefined) unit.outcomes[index] = outcome
  }
  if (producer !== null)
    await answerUnclaimed(
      deps.platform.pool,
      producer,
      open.filter(({ row }) => !decided.has(row.n)),
    )
}

async function acceptRows(
  { billing, projections }: CommitDeps,
  tx: Db,
  rows: readonly AcceptRow[],
  { at }: Moment,
): Promise<Map<number, ItemOutcome>> {
  const eligible = await findEligibility(tx, rows, at)
  const refusals = new Map(rows.flatMap((row, index) => refusalOf(row, eligible[index]!.verdict)))
  const contacts = new Map(rows.map((row, index) => [row.n, eligible[index]!.contact_id]))
  const clear = rows.filter((row) => !refusals.has(row.n))
  const charges = await billing.chargeInOrder(
    tx,
    clear.map((row) => ({
      message_id: row.id,
      account_id: row.account_id,
      mode: row.mode,
      channel_type: row.channel_type,
      channel_id: row.channel_id,
      price_micros: row.price,
      created_at: at,
    })),
  )
  const paid = clear.flatMap((row, index) => {
    const charge = charges[index]!
    return charge.outcome === 'charged' ? [{ row, charge, paid: paidBy(charge, contacts.get(row.n) ?? null) }] : []
  })
  await insertMessages(
    tx,
    projections,
    paid.map((one) => ({ ...one.row, ...one.paid })),
    at,
  )
  await billing.addUsage(
    tx,
    paid.map(({ row, charge }) => usageOfCharge({ ...row, created_at: at }, charge)),
  )
  const accepted = paid.map(({ row, paid: how }): [number, ItemOutcome] => [
    row.n,
    { kind: 'accepted', row: messageOf(row, how, at) },
  ])
  return new Map([...clear.map(({ n }): [number, ItemOutcome] => [n, { kind: 'no_funds' }]), ...refusals, ...accepted])
}

function refusalOf(row: AcceptRow, verdict: Ineligible | null): [number, ItemOutcome][] {
  if (row.poisoned) return [[row.n, { kind: 'refused', code: 'parameter_invalid' }]]
  return verdict === null ? [] : [[row.n, { kind: 'refused', code: verdict }]]
}

const paidBy = (
  { source, amount_micros, package_grant_id }: Extract<Charge, { outcome: 'charged' }>,
  contact_id: string | null,
): Paid => ({
  contact_id,
  billing_source: source,
  amount_micros,
  package_grant_id,
})

/** `value`, built from all outcomes of a submission, is on its first row. */
function submittedRows(units: readonly Unit[], outcomes: ReadonlyMap<number, ItemOutcome>): SubmittedRow[] {
  return units.flatMap((unit) => {
    const decided = unit.rows.flatMap((row) => (outcomes.has(row.n) ? [{ row, outcome: outcomes.get(row.n)! }] : []))
    const valueFrom = unit.pending.submission.producer?.valueFrom
    return decided.map(({ row, outcome }, index): SubmittedRow => ({
      row,
      message_id: outcome.kind === 'accepted' ? outcome.row.id : null,
      code: codeOf(outcome),
      value: index === 0 && valueFrom !== undefined ? valueFrom(decided.map((one) => one.outcome)) : null,
    }))
  })
}

function codeOf(outcome: ItemOutcome): string | null {
  if (outcome.kind === 'refused') return outcome.code
  return outcome.kind === 'no_funds' ? 'insufficient_balance' : null
}

/** Units that need locks stay undecided. */
export async function acceptOptimistically(deps: CommitDeps, units: readonly Unit[], moment: Moment): Promise<void> {
  const open = undecided(units)
  const producer = deps.producers.fragmentOf(units)
  const places: Place[] = []
  for (const place of open) places[place.row.n] = place
  const verdicts = await acceptBatch(deps.platform.pool, {
    rows: open.map(({ row }) => row),
    producer,
    projections: deps.projections,
    moment,
  })
  for (const verdict of verdicts) {
    const { unit, index, row } = places[verdict.n]!
    const outcome = outcomeOf(row, verdict, moment.at)
    if (outcome !== undefined) unit.outcomes[index] = outcome
  }
  if (producer !== null) {
    const unclaimed = verdicts.filter(({ verdict }) => verdict === 'withdrawn').map(({ n }) => places[n]!)
    await answerUnclaimed(deps.platform.pool, producer, unclaimed)
  }
}

function outcomeOf(
  row: AcceptRow,
  { verdict, contact_id, package_grant_id }: AcceptVerdict,
  at: string,
): ItemOutcome | undefined {
  if (verdict === 'uncovered' || verdict === 'withdrawn') return undefined
  if (verdict !== 'accepted') return { kind: 'refused', code: verdict }
  const paid =
    package_grant_id === null
      ? ({ billing_source: 'wallet', amount_micros: row.price } as const)
      : ({ billing_source: 'package', amount_micros: 0 } as const)
  return { kind: 'accepted', row: messageOf(row, { contact_id, package_grant_id, ...paid }, at) }
}

async function answerUnclaimed(sql: Db, producer: ProducerFragment, unclaimed: readonly Place[]): Promise<void> {
  if (unclaimed.length === 0) return
  const known = await producer.known(
    sql,
    unclaimed.map(({ row: { n, account_id, mode, submission_key } }) => ({ n, account_id, mode, submission_key })),
  )
  for (const { unit, index, row } of unclaimed) {
    const message_id = known.get(row.n)
    unit.outcomes[index] = message_id === undefined ? { kind: 'withdrawn' } : { kind: 'known', message_id }
  }
}
