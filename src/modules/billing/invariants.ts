/** The truths of money that `posthorn doctor` proves inside one snapshot: balances, grants, refunds and usage against the ledger. */
import { invariant } from '../../platform/invariants.ts'
import type { Invariant } from '../../platform/platform.ts'
import * as audit from './audit-store.ts'
import { topUpBreaches } from './top-ups/store.ts'

export const billingInvariants: readonly Invariant[] = [
  invariant(
    'wallet-equals-ledger',
    audit.walletBreaches,
    (row) =>
      `The wallet of ${row.account_id} holds ${row.held} micro-USD, but its ledger entries add up to ${row.entries}.`,
  ),
  invariant(
    'grant-equals-ledger',
    audit.grantBreaches,
    (row) =>
      `Package ${row.id} of ${row.account_id} has ${row.held} credits, but its ledger entries add up to ${row.entries}.`,
  ),
  invariant(
    'entries-in-order',
    audit.orderBreaches,
    (row) =>
      `The entry ${row.id} of ${row.account_id} tells a balance of ${row.held} micro-USD, but the entries up to it add up to ${row.entries}.`,
  ),
  invariant(
    'refund-matches-charge',
    audit.refundBreaches,
    (row) => `The refund ${row.id} of ${row.account_id} does not give back what message ${row.message_id} was charged.`,
  ),
  invariant(
    'top-ups-equal-ledger',
    topUpBreaches,
    (row) =>
      `The top-up ${row.id} of ${row.account_id} (${row.status ?? 'unknown'}) is to have brought ${row.paid} micro-USD, but its ledger entries add up to ${row.entries}.`,
  ),
  invariant(
    'usage-equals-ledger',
    audit.usageBreaches,
    (row) =>
      `Usage of ${row.account_id} on ${row.day} counts ${row.counted}, but the ledger has ${row.entries} (wallet micros, credits, refunded micros, refunded credits).`,
  ),
]
