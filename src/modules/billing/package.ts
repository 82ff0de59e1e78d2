/** A package of prepaid credits (table `grants`): its row, its order of use, and its JSON. */
import type { Package, PackageStatus } from '../../api/resources/package.ts'

export interface GrantRow {
  readonly account_id: string
  readonly id: string
  readonly name: string
  /** Empty: every channel type. */
  readonly channel_types: readonly string[]
  readonly credits_total: number
  readonly credits_remaining: number
  readonly expires_at: string | null
  readonly exhausted_at: string | null
  readonly expired_at: string | null
  readonly created_at: string
}

/** In the balance (behaviour: billing 5.1). */
export const endedPackageShownMs = 30 * 24 * 3600_000

/** The earliest expiry first, no expiry last, ties by age. */
export function byOrderOfUse(one: GrantRow, other: GrantRow): number {
  const [a, b] = [one.expires_at ?? '~', other.expires_at ?? '~']
  if (a !== b) return a < b ? -1 : 1
  return one.id < other.id ? -1 : 1
}

export const isUsable = (grant: GrantRow, at: string): boolean =>
  grant.credits_remaining > 0 && grant.expired_at === null && (grant.expires_at === null || grant.expires_at > at)

export const appliesTo = (grant: GrantRow, channel_type: string): boolean =>
  grant.channel_types.length === 0 || grant.channel_types.includes(channel_type)

export function packageStatus(grant: GrantRow, at: string): PackageStatus {
  if (grant.expired_at !== null || (grant.expires_at !== null && grant.expires_at <= at)) return 'expired'
  return grant.credits_remaining === 0 ? 'exhausted' : 'active'
}

export const packageObject = (grant: GrantRow, at: string): Package => ({
  id: grant.id,
  object: 'package',
  mode: 'live',
  name: grant.name,
  channel_types: [...grant.channel_types],
  credits_total: grant.credits_total,
  credits_remaining: grant.credits_remaining,
  status: packageStatus(grant, at),
  expires_at: grant.expires_at,
  created_at: grant.created_at,
})
