/** Rows of money as the API shows them: the Package and the Balance. */
import type { Mode } from '../../contract/caller.ts'
import type { Balance } from '../../contract/resources/balance.ts'
import type { Package, PackageStatus } from '../../contract/resources/package.ts'
import { inOrderOfUse, type GrantRow } from './charging.ts'

/** How long an exhausted or expired package stays in the balance (decisions 8). */
export const shownForMs = 30 * 24 * 3600_000

/** A grant as a Package at this moment (ISO 8601). */
export function packageOf(grant: GrantRow, at: string): Package {
  return {
    id: grant.id,
    object: 'package',
    mode: 'live',
    name: grant.name,
    channel_types: [...grant.channel_types],
    credits_total: grant.credits_total,
    credits_remaining: grant.credits_remaining,
    status: statusOf(grant, at),
    expires_at: grant.expires_at,
    created_at: grant.created_at,
  }
}

function statusOf(grant: GrantRow, at: string): PackageStatus {
  if (grant.expired_at !== null || (grant.expires_at !== null && grant.expires_at <= at)) return 'expired'
  return grant.credits_remaining === 0 ? 'exhausted' : 'active'
}

/** A balance: packages in the order of their use, ended ones after them, the last ended first. */
export function balanceOf(mode: Mode, wallet_micros: number, grants: readonly GrantRow[], at: string): Balance {
  const { active = [], ended = [] } = Object.groupBy(grants, (grant) => (statusOf(grant, at) === 'active' ? 'active' : 'ended'))
  const endOf = (grant: GrantRow): string => (statusOf(grant, at) === 'expired' ? grant.expires_at : grant.exhausted_at) ?? grant.created_at
  const packages = [...active.toSorted(inOrderOfUse), ...ended.toSorted((one, other) => (endOf(one) < endOf(other) ? 1 : -1))]
  return {
    object: 'balance',
    mode,
    currency: 'USD',
    wallet_micros,
    packages: packages.map((grant) => packageOf(grant, at)),
    credits_remaining: active.reduce((sum, grant) => sum + grant.credits_remaining, 0),
  }
}
