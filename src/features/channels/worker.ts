/** What happens to channels by themselves: a lost link is tried again, and after a rotation of the secret key credentials come under the current one. */
import type { Tenant } from '../../contract/caller.ts'
import { Problem } from '../../contract/problem.ts'
import type { Lane } from '../../lib/loop.ts'
import type { Chore, Platform } from '../../platform/platform.ts'
import { listSealed, reseal } from './rotation-store.ts'
import type { ChannelService } from './service.ts'
import { listDisconnected, type ChannelRow } from './store.ts'

const pageRows = 500
const lookEveryMs = 1000
/** A link is tried again after one second, two, four, … and then once a minute (behaviour: channels 4.2). */
const firstWaitMs = 1000
const waitMaxMs = 60_000
const triedAtOnce = 20

export const channelChores = (platform: Platform): Chore[] => [{ name: 'channel credentials', every_ms: 60_000, run: () => resealAll(platform) }]

/** So that the previous key can be dropped. Resolves to the number of channels changed. */
async function resealAll({ pool, secrets }: Platform): Promise<number> {
  let changed = 0
  for (let after = ''; ;) {
    const channels = await listSealed(pool, after, pageRows)
    for (const channel of channels.filter(({ credentials }) => !secrets.isCurrent(credentials))) {
      await reseal(pool, channel, secrets.seal(secrets.open(channel.credentials)))
      changed += 1
    }
    if (channels.length < pageRows) return changed
    after = channels.at(-1)!.id
  }
}

/** Tries lost links again until they stand; a link that stands again is told as `channel.connected`. Sessions are opened again by whoever holds them. */
export function reconnectLane({ pool, clock, log }: Platform, channels: Pick<ChannelService, 'reconnect' | 'needsSession'>): Lane {
  let waits = new Map<string, { readonly failures: number; readonly next_ms: number }>()

  async function tryAgain(row: ChannelRow): Promise<boolean> {
    const tenant: Tenant = { account_id: row.account_id as Tenant['account_id'], mode: row.mode }
    try {
      await channels.reconnect(pool, tenant, row.id)
      return true
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const failures = (waits.get(row.id)?.failures ?? 0) + 1
      waits.set(row.id, { failures, next_ms: clock.now() + Math.min(firstWaitMs * 2 ** Math.min(failures, 10), waitMaxMs) })
      log.warn({ err: error, channel_id: row.id, failures }, 'a lost channel could not be reconnected; it is tried again')
      return false
    }
  }

  return {
    name: 'reconnect',
    idle_ms: lookEveryMs,
    async tick() {
      const now = clock.now()
      const lost = (await listDisconnected(pool, pageRows)).filter((row) => !channels.needsSession(row))
      // what stands again, and what is gone, is forgotten
      waits = new Map(lost.map(({ id }) => [id, waits.get(id) ?? { failures: 0, next_ms: now + firstWaitMs }]))
      const due = lost.filter(({ id }) => waits.get(id)!.next_ms <= now).slice(0, triedAtOnce)
      const tried = await Promise.all(due.map(tryAgain))
      return tried.filter(Boolean).length
    },
  }
}
