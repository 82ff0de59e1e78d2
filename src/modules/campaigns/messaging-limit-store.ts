/** SQL of the limit of 24 hours. */
import type { Transaction } from '../../platform/database/sql.ts'

/** Waits until no other process writes to recipients of this channel with its limit nearly used up; until the transaction ends, none does. */
export async function takeLimitTurn(tx: Transaction, channel_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`messaging limit ${channel_id}`}, 0))`
}
