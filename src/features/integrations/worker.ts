/** What happens to integrations by themselves: the chores. */
import type { Chore, Platform } from '../../platform/platform.ts'
import { resealAll } from '../../platform/resealing.ts'
import { listSealedSources, resealSource } from './sources/store.ts'

export const integrationChores = (platform: Platform): Chore[] => [
  {
    name: 'integration secrets',
    every_ms: 3600_000,
    run: () => resealAll(platform, { what: 'integration source', list: listSealedSources, reseal: resealSource }),
  },
]
