/** What happens to integrations by themselves: the chores. */
import type { Chore, Platform } from '../../platform/platform.ts'
import { listSealedSources, resealSource } from './sources/store.ts'

export const integrationChores = (platform: Platform): Chore[] => [{ name: 'integration secrets', every_ms: 3600_000, run: () => resealAll(platform) }]

const pageRows = 500

/** After a rotation of the secret key every signing secret comes under the current one, so that the previous key can be dropped. */
async function resealAll({ pool, secrets }: Platform): Promise<number> {
  let changed = 0
  for (let after = ''; ;) {
    const rows = await listSealedSources(pool, after, pageRows)
    for (const { id, signing_secret } of rows) {
      if (secrets.isCurrent(signing_secret)) continue
      await resealSource(pool, id, signing_secret, secrets.seal(secrets.open(signing_secret)))
      changed += 1
    }
    if (rows.length < pageRows) return changed
    after = rows.at(-1)!.id
  }
}
