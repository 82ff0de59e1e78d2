/** The balance: wallet and packages of the account (behaviour: billing 5.1). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { Package } from './package.ts'

export const Balance = Type.Object(
  {
    object: objectName('balance'),
    mode: Mode,
    currency: Type.Literal('USD', { description: 'Amounts are in micro-USD: 1,000,000 are one US dollar.' }),
    wallet_micros: Type.Integer({ description: 'The wallet balance in micro-USD. Never negative.' }),
    packages: Type.Array(Package, {
      description: 'In the order of their use; exhausted and expired ones follow for 30 days.',
    }),
    credits_remaining: Type.Integer({ description: 'Credits of all active packages together.' }),
  },
  { $id: 'Balance' },
)
export type Balance = Static<typeof Balance>
