/** What becomes of the recipients of a campaign that was cancelled or has failed: who was not sent to is cancelled, with or without a message (behaviour: campaigns 2). */
import type { Tenant } from '../../../api/caller.ts'
import { sqlState, transact, type Transaction } from '../../../platform/database/sql.ts'
import { addDeltas } from '../counter-store.ts'
import type { CampaignDeps } from '../deps.ts'
import {
  cancelUnsent,
  cancelWithdrawn,
  discardUnseen,
  isAnybodyPending,
  lockUnderWay,
  unsentNumbers,
} from '../recipient-store.ts'

/** Recipients without a message who are cancelled in one transaction. */
const cancelledAtOnce = 5000
/** Messages withdrawn in one transaction: each has its event and its refund. */
const withdrawnAtOnce = 500
/** So long a worker cancels recipients of one campaign before others have their turn. */
export const endingMs = 300
const attemptsMax = 3

type Deps = Pick<CampaignDeps, 'platform' | 'messages'>
type Whose = Tenant & { readonly id: string }

/**
 * Cancels all who were not sent to, and withdraws their messages, in transactions of some hundreds or thousands of rows, for at most so long. It waits for no recipient that another
 * transaction holds. False where somebody is left: the worker goes on with them. Ended in the midst of its snapshot, a campaign has no recipients.
 */
export async function cancelRest(deps: Deps, tenant: Tenant, id: string, most_ms: number): Promise<boolean> {
  const { pool, clock } = deps.platform
  const until_ms = clock.elapsed() + most_ms
  const whose = { ...tenant, id }
  while ((await discardUnseen(pool, whose, cancelledAtOnce)) === cancelledAtOnce)
    if (clock.elapsed() >= until_ms) return false
  const unsent = await unsentNumbers(pool, whose)
  for (let after = (unsent?.first ?? 1) - 1; after < (unsent?.last ?? 0); after += cancelledAtOnce) {
    await cancelUnsent(pool, whose, { after, until: after + cancelledAtOnce })
    if (clock.elapsed() >= until_ms) return false
  }
  for (let after: number | null = 0; after !== null;) {
    if (clock.elapsed() >= until_ms && after > 0) return false
    after = await withdrawSome(deps, whose, after)
  }
  return !(await isAnybodyPending(pool, whose))
}

/** Resolves to the number of the last recipient that was looked at; null: there is none above `after`. What collides with others at the wallet is repeated. */
async function withdrawSome(deps: Deps, whose: Whose, after: number): Promise<number | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(deps.platform.pool, (tx) => withdrawIn(tx, deps, whose, after))
    } catch (error) {
      if (sqlState(error) !== '40P01' || attempt === attemptsMax) throw error
    }
  }
}

async function withdrawIn(
  tx: Transaction,
  { platform, messages }: Deps,
  whose: Whose,
  after: number,
): Promise<number | null> {
  const rows = await lockUnderWay(tx, whose, { after, limit: withdrawnAtOnce })
  const withdrawn = await messages.withdraw(
    tx,
    whose,
    rows.map(({ message_id }) => message_id),
  )
  const cancelled = rows.filter(({ message_id }) => withdrawn.has(message_id))
  await cancelWithdrawn(
    tx,
    whose,
    cancelled.map(({ n }) => n),
  )
  if (cancelled.length > 0) {
    // the transitions of these messages count them as failed
    const delta = { campaign_id: whose.id, wallet_micros: 0, package_credits: 0 }
    await addDeltas(tx, whose, [
      { ...delta, status: 'failed', recipients: -cancelled.length },
      { ...delta, status: 'pending', recipients: cancelled.length },
    ])
    platform.notify('fan-out', 'follow-campaigns')
  }
  return rows.at(-1)?.n ?? null
}
