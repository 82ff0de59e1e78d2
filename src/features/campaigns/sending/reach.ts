/** How many recipients a live whatsapp channel may still write to first in 24 hours (behaviour: campaigns 2). */
import { tenantOf } from '../../../contract/caller.ts'
import { countReached } from '../../messages/service.ts'
import type { ChannelRow } from '../../channels/service.ts'
import type { CampaignDeps } from '../deps.ts'
import { reachableOf } from '../lifecycle/checks.ts'

const dayMs = 24 * 3600_000
/** Counted anew so often, since recipients of a day ago count no more, and other processes send too. */
const countAgainMs = 60_000
/** Where none are left: it is counted exactly before a campaign is stopped for it. */
const countExactlyMs = 1000

/** Counts channels in memory between two looks at the database. */
export class Reach {
  readonly #deps: CampaignDeps
  readonly #counted = new Map<string, { readonly at: number; reached: number }>()

  constructor(deps: CampaignDeps) {
    this.#deps = deps
  }

  /** How many more it may write to; Infinity: any number. */
  async leftOf(channel: ChannelRow): Promise<number> {
    const reachable = reachableOf(channel)
    if (reachable === null) return Infinity
    const { pool, clock } = this.#deps.platform
    const now = clock.now()
    const known = this.#counted.get(channel.id)
    const good = known !== undefined && Math.abs(now - known.at) < (known.reached >= reachable ? countExactlyMs : countAgainMs)
    if (good) return Math.max(0, reachable - known.reached)
    const reached = await countReached(pool, tenantOf(channel), channel.id, now - dayMs)
    this.#counted.set(channel.id, { at: now, reached })
    return Math.max(0, reachable - reached)
  }

  /** So many messages have been accepted for it. */
  went(channel: ChannelRow, count: number): void {
    const known = this.#counted.get(channel.id)
    if (known !== undefined) known.reached += count
  }
}
