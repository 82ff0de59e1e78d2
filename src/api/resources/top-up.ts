/** Top-ups: payments into the wallet from the console (behaviour: billing 8). */
import { Type, type Static } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'

const topUpStatuses = ['open', 'paid', 'expired'] as const
export type TopUpStatus = (typeof topUpStatuses)[number]

export const TopUp = Type.Object(
  {
    id: Type.String({ description: 'Prefix `top_`.' }),
    object: objectName('top_up'),
    amount_micros: Type.Integer({ description: 'Amount credited to the wallet, in micro-USD.' }),
    currency: Type.Literal('USD', { description: 'Amounts are in micro-USD: 1,000,000 are one US dollar.' }),
    status: Type.Unsafe<TopUpStatus>({
      type: 'string',
      enum: [...topUpStatuses],
      description:
        '`open`: to be paid at `url`, or paid in a way that takes days. `paid`: the wallet has the money. `expired`: nobody paid in time.',
    }),
    url: NullableString({ description: 'Where it is paid, while it is `open`; else null.' }),
    created_by: Type.Object(
      {
        type: Type.Literal('user', { description: 'Always `user`.' }),
        id: Type.String({ description: 'Prefix `usr_`.' }),
      },
      { description: 'Who began it.' },
    ),
    created_at: Timestamp(),
  },
  {
    $id: 'TopUp',
    description:
      'Money that is paid into the wallet at the payment provider. Credited once, when the payment provider says that it is paid.',
  },
)
export type TopUp = Static<typeof TopUp>
