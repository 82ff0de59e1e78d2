/** Changes of which there is no event: this process notices its own at once, and those of others by the request log (behaviour: console 8.4). */
import type { Mode, Tenant } from '../../../api/caller.ts'
import { idFloor } from '../../../lib/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { listChanges, type ChangeRow } from '../requests/store.ts'

const lookEveryMs = 1_000
/** Requests are written within a second or so, by any process, and in no order. */
const lookedBackMs = 5_000

export const tenantKey = (account_id: string, mode: Mode): string => `${account_id} ${mode}`

export class Changes {
  readonly #platform: Platform
  /** Of whom changes were looked for the last time. */
  #followed: ReadonlySet<string> = new Set()
  #changed = new Set<string>()
  /** Ids of requests that were told of, with when by the elapsed time. */
  readonly #seen = new Map<string, number>()
  #lookedAt = -Infinity

  constructor(platform: Platform) {
    this.#platform = platform
  }

  /** A change that this process has answered. */
  note({ account_id, mode, id }: ChangeRow): void {
    const key = tenantKey(account_id, mode)
    if (!this.#followed.has(key)) return
    this.#seen.set(id, this.#platform.clock.elapsed())
    this.#changed.add(key)
  }

  /** Where something has changed since the last look: keys of tenants. */
  async look(tenants: readonly Tenant[]): Promise<ReadonlySet<string>> {
    const now = this.#platform.clock.elapsed()
    if (now - this.#lookedAt >= lookEveryMs) {
      this.#lookedAt = now
      await this.#lookInLog(tenants, now)
    }
    const changed = this.#changed
    this.#changed = new Set()
    return changed
  }

  async #lookInLog(tenants: readonly Tenant[], now: number): Promise<void> {
    const rows = await listChanges(
      this.#platform.pool,
      tenants,
      idFloor('req', this.#platform.clock.now() - lookedBackMs),
    )
    for (const { account_id, mode, id } of rows) {
      if (this.#seen.has(id)) continue
      this.#seen.set(id, now)
      // what changed before anybody listened is what they have read
      if (this.#followed.has(tenantKey(account_id, mode))) this.#changed.add(tenantKey(account_id, mode))
    }
    this.#followed = new Set(tenants.map(({ account_id, mode }) => tenantKey(account_id, mode)))
    // while a clock that was set back catches up, each look finds the same newest changes
    const found = new Set(rows.map(({ id }) => id))
    for (const [id, at] of this.#seen) if (now - at > 2 * lookedBackMs && !found.has(id)) this.#seen.delete(id)
  }
}
