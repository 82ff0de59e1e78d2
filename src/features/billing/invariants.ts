/** The truths of money that `posthorn doctor` proves inside one snapshot: balances, grants, refunds and usage against the ledger. */
import type { Db } from '../../platform/database/sql.ts'
import type { Invariant } from '../../platform/platform.ts'
import * as audit from './audit-store.ts'

/** The rows that `find` returns, each in a sentence. */
const phrased =
  <T>(find: (sql: Db) => Promise<T[]>, sentence: (row: T) => string) =>
  async (sql: Db) =>
    (await find(sql)).map(sentence)

export const billingInvariants: readonly Invariant[] = [
  {
    name: 'wallet-equals-ledger',
    breaches: phrased(
      audit.walletBreaches,
      (row) => `The wallet of ${row.account_id} holds ${row.held} micro-USD, but its ledger entries add up to ${row.entries}.`,
    ),
  },
  {
    name: 'grant-equals-ledger',
    breaches: phrased(
      audit.grantBreaches,
      (row) => `Package ${row.id} of ${row.account_id} has ${row.held} credits, but its ledger entries add up to ${row.entries}.`,
    ),
  },
  {
    name: 'entries-in-order',
    breaches: phrased(
      audit.orderBreaches,
      (row) => `The entry ${row.id} of ${row.account_id} tells a balance of ${row.held} micro-USD, but the entries up to it add up to ${row.entries}.`,
    ),
  },
  {
    name: 'refund-matches-charge',
    breaches: phrased(
      audit.refundBreaches,
      (row) => `The refund ${row.id} of ${row.account_id} does not give back what message ${row.message_id} was charged.`,
    ),
  },
  {
    name: 'usage-equals-ledger',
    breaches: phrased(
      audit.usageBreaches,
      (row) =>
        `Usage of ${row.account_id} on ${row.day} counts ${row.counted}, but the ledger has ${row.entries} (wallet micros, credits, refunded micros, refunded credits).`,
    ),
  },
]
