/** The wallet of an account: its row and its JSON. */
import type { Mode } from '../../api/caller.ts'
import type { Balance } from '../../api/resources/balance.ts'
import { byOrderOfUse, packageObject, packageStatus, type GrantRow } from './package.ts'

export interface WalletRow {
  readonly account_id: string
  readonly balance_micros: number
  readonly low_balance_micros: number
  readonly low_balance_at: string | null
  /** null before the first entry. */
  readonly last_entry_at: string | null
}

/** Active packages in the order of their use, then ended ones, the last ended first. */
export function balanceObject(mode: Mode, wallet_micros: number, grants: readonly GrantRow[], at: string): Balance {
  const { active = [], ended = [] } = Object.groupBy(grants, (grant) =>
    packageStatus(grant, at) === 'active' ? 'active' : 'ended',
  )
  const endOf = (grant: GrantRow): string =>
    (packageStatus(grant, at) === 'expired' ? grant.expires_at : grant.exhausted_at) ?? grant.created_at
  const packages = [
    ...active.toSorted(byOrderOfUse),
    ...ended.toSorted((one, other) => (endOf(one) < endOf(other) ? 1 : -1)),
  ]
  return {
    object: 'balance',
    mode,
    currency: 'USD',
    wallet_micros,
    packages: packages.map((grant) => packageObject(grant, at)),
    credits_remaining: active.reduce((sum, grant) => sum + grant.credits_remaining, 0),
  }
}
