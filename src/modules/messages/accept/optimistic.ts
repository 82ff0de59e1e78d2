/** The optimistic path: what needs no decision is accepted by one statement. What it leaves undecided is for the locking path. */
import { acceptBatch, type AcceptVerdict } from './optimistic-store.ts'
import type { CommitDeps } from './commit-deps.ts'
import { messageOf, type AcceptRow, type Moment } from './row.ts'
import { undecided, type ItemOutcome, type Place, type Unit } from './submission.ts'
import { answerUnheld } from './unheld.ts'

/** Decides what it can of these units' rows, and commits it. */
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
