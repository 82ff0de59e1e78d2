/** How an operation on a campaign keeps its answer under the Idempotency-Key: in the transaction that changes the campaign. */
import type { Campaign } from '../../api/resources/campaign.ts'
import type { Db } from '../../platform/database/sql.ts'

/** Keeps what is to be answered from now on; does nothing for a request without a key. */
export type Keep = (tx: Db, shown: Campaign) => Promise<void>

/** The campaign, once it is kept as the answer. */
export async function kept(tx: Db, keep: Keep, shown: Campaign): Promise<Campaign> {
  await keep(tx, shown)
  return shown
}
