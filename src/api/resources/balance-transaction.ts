/** Balance transactions: ledger entries from the account's side (behaviour: billing 5.4). */
import { Type, type Static } from 'typebox'
import { objectName } from './shared-fields.ts'
import { NullableString, Timestamp } from './nullable.ts'

export const transactionTypes = [
  'top_up',
  'message_charge',
  'message_refund',
  'package_grant',
  'package_expiry',
  'adjustment',
] as const
export type TransactionType = (typeof transactionTypes)[number]

export const BalanceTransaction = Type.Object(
  {
    id: Type.String({ description: 'Prefix `txn_`.' }),
    object: objectName('balance_transaction'),
    mode: Type.Literal('live', { description: 'Always `live`: nothing is charged in test mode.' }),
    type: Type.Unsafe<TransactionType>({
      type: 'string',
      enum: [...transactionTypes],
      description:
        '`top_up`: money came into the wallet. `message_charge`: an accepted message took its price or one credit. `message_refund`: ' +
        'what a failed message had taken came back. `package_grant`: credits were granted. `package_expiry`: unused credits were ' +
        'written off. `adjustment`: a correction by the operator.',
    }),
    amount_micros: Type.Integer({
      description: 'Change of the wallet in micro-USD, negative for a charge; 0 when only credits moved.',
    }),
    currency: Type.Literal('USD', { description: 'Amounts are in micro-USD: 1,000,000 are one US dollar.' }),
    credits: Type.Integer({
      description: 'Change of the credits of the package, negative when one was used; 0 when only money moved.',
    }),
    package_grant_id: NullableString({ description: 'The package (`grant_`) whose credits changed, or null.' }),
    message_id: NullableString({ description: 'The message that was charged or refunded (`msg_`), or null.' }),
    top_up_id: NullableString({
      description: 'The top-up in the console that brought the money (`top_`), or null.',
      examples: ['top_01m7z10y8texgrjk0p9bvk2cq6'],
    }),
    payment_reference: NullableString({
      description: "The payment provider's id of its payment, such as Stripe's `pi_…`, or null.",
      examples: ['pi_3QXm2eLkdIwHu7ix'],
    }),
    note: NullableString({ description: "The operator's note on a top-up or correction, or null." }),
    balance_after_micros: Type.Integer({ description: 'The wallet balance after this transaction, in micro-USD.' }),
    created_at: Timestamp(),
  },
  {
    $id: 'BalanceTransaction',
    description:
      'One entry of the append-only ledger. The wallet is the sum of `amount_micros`, a package the sum of its `credits`.',
  },
)
export type BalanceTransaction = Static<typeof BalanceTransaction>
