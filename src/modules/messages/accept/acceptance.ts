/** The locking path: what the optimistic statement did not cover, under row locks and in order, in one transaction. Locks: the producer's rows, wallets, grants, messages. */
import { transact, type Db } from '../../../platform/database/sql.ts'
import { usageOfCharge, type Charge } from '../../billing/service.ts'
import { findEligibility, type Ineligible } from '../../contacts/service.ts'
import type { CommitDeps } from './commit-deps.ts'
import { holdRows, insertMessages, settleRows, type SubmittedRow } from './repository.ts'
import { answerUnheld } from './unheld.ts'
import { messageOf, type AcceptRow, type Moment, type Paid } from './row.ts'
import { undecided, type ItemOutcome, type Unit } from './submission.ts'

/** Decides every row of these units that is still open, and commits it. */
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

/** Checks, charges and stores rows in the transaction `tx`; resolves to the outcome of each by its number. */
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

/** What the producer is told of its rows; a value, where one is made of all outcomes of a submission, stands on its first row. */
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
