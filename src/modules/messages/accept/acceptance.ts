/**
 * The two ways to accept a batch: one optimistic statement for rows that need no decision, and a transaction under row
 * locks for the rest. Lock order: rows of the producer, wallets, grants, messages.
 */
import { type Db, transact } from '../../../platform/database/sql.ts'
import { type BillingService, type Charge, usageOfCharge } from '../../billing/service.ts'
import { findEligibility, type Ineligible } from '../../contacts/service.ts'
import {
  acceptBatch,
  type AcceptVerdict,
  holdRows,
  insertMessages,
  settleRows,
  type SubmittedRow,
} from './repository.ts'
import { type AcceptRow, type Handoff, messageOf, type Moment, type Paid } from './row.ts'
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
  readonly handoff: Handoff
  /** True while no other process accepts or sends messages, so that nobody else commits to the same wallets. */
  readonly alone: () => boolean
  /** Called with all accepted messages after their commit. Must not wait for anything. */
  readonly emitted: (rows: readonly MessageRow[]) => void
}

/** Decides and commits every undecided row of these units. */
export async function acceptUnderLocks(deps: CommitDeps, units: readonly Unit[], moment: Moment): Promise<void> {
  const open = undecided(units)
  const producer = deps.producers.fragmentOf(units)
  const decided = await transact(deps.platform.pool, async (tx) => {
    const rows = open.map(({ row }) => row)
    const held = producer === null ? null : await holdRows(tx, producer, rows, moment)
    const outcomes = await acceptRows(deps, tx, held === null ? rows : rows.filter(({ n }) => held.has(n)), moment)
    if (producer !== null) await settleRows(tx, producer, submittedRows(units, outcomes), moment)
    return outcomes
  })
  for (const { unit, index, row } of open) {
    const outcome = decided.get(row.n)
    if (outcome !== undefined) unit.outcomes[index] = outcome
  }
  if (producer !== null)
    await answerUnheld(
      deps.platform.pool,
      producer,
      open.filter(({ row }) => !decided.has(row.n)),
    )
}

/** Checks, charges and stores rows in the transaction `tx`. Resolves to outcomes by row number. */
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

/** The outcomes as the producer stores them. A value that is built from all outcomes of a submission is on its first row. */
function submittedRows(units: readonly Unit[], outcomes: ReadonlyMap<number, ItemOutcome>): SubmittedRow[] {
  return units.flatMap((unit) => {
    const decided = unit.rows.flatMap((row) => (outcomes.has(row.n) ? [{ row, outcome: outcomes.get(row.n)! }] : []))
    const valueFrom = unit.pending.submission.alongside?.valueFrom
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

/** Decides and commits what it can of these units; the rest stays undecided. */
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
    const unheld = verdicts.filter(({ verdict }) => verdict === 'withdrawn').map(({ n }) => places[n]!)
    await answerUnheld(deps.platform.pool, producer, unheld)
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

async function answerUnheld(sql: Db, producer: ProducerFragment, unheld: readonly Place[]): Promise<void> {
  if (unheld.length === 0) return
  const known = await producer.known(
    sql,
    unheld.map(({ row: { n, account_id, mode, submission_key } }) => ({ n, account_id, mode, submission_key })),
  )
  for (const { unit, index, row } of unheld) {
    const message_id = known.get(row.n)
    unit.outcomes[index] = message_id === undefined ? { kind: 'withdrawn' } : { kind: 'known', message_id }
  }
}
