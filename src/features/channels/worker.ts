/** What happens to channels by itself: after a rotation of the secret key their credentials come under the current one. */
import type { Chore, Platform } from '../../platform/platform.ts'
import { listSealed, reseal } from './rotation-store.ts'

const pageRows = 500

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
