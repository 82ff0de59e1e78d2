/** Locked wallets, and ids for what is posted to them: the entries of an account stand in the order in which its wallet was locked. */
import type { Id } from '../../api/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { idMaker } from '../../lib/ids.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { WalletRow } from './charging.ts'
import * as store from './store.ts'

export interface Posting {
  /** An id for an entry; it follows every entry of the wallets that this process has locked. */
  entryId(): Id<'txn'>
  /** Locks these accounts' wallets until the transaction ends. */
  lockWallets(tx: Db, account_ids: readonly string[]): Promise<WalletRow[]>
}

/** Ids of their own: another machine's clock that runs ahead pushes these ahead, and nothing else. */
export function posting(clock: Clock): Posting {
  const ids = idMaker(clock)
  return {
    entryId: () => ids('txn'),
    async lockWallets(tx, account_ids) {
      const wallets = await store.lockWallets(tx, account_ids)
      for (const { last_entry_id } of wallets) if (last_entry_id !== '') ids.follow(last_entry_id)
      return wallets
    },
  }
}
