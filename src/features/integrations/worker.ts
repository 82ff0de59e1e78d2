/** What happens to integrations by themselves: the chores (behaviour: integrations 3.7). */
import type { Chore, Platform } from '../../platform/platform.ts'
import { resealAll } from '../../platform/resealing.ts'
import { deleteOrphanedReceipts } from './reporting/store.ts'
import { firstDue } from './runs/due-store.ts'
import { cancellingLeftovers } from './runs/leftovers.ts'
import { listSealedSources, resealSource } from './sources/store.ts'

/** Receipts deleted at a time, and at most in one go. */
const receiptRows = 2000
const receiptRowsMax = 200_000

export const integrationChores = (platform: Platform): Chore[] => [
  {
    name: 'integration secrets',
    every_ms: 3600_000,
    run: () => resealAll(platform, { what: 'integration source', list: listSealedSources, reseal: resealSource }),
  },
  { name: 'receipts of deleted sources', every_ms: 60_000, run: () => deleteReceipts(platform) },
  cancellingLeftovers(platform),
  { name: 'measure automation runs', every_ms: 15_000, run: () => measure(platform) },
]

async function measure({ pool, clock, metrics }: Platform): Promise<number> {
  const due = await firstDue(pool)
  metrics.automation_runs_overdue_seconds.set(due === null ? 0 : Math.max(0, clock.now() - Date.parse(due)) / 1000)
  return 0
}

/** Of sources that are deleted. */
async function deleteReceipts({ pool }: Platform): Promise<number> {
  let deleted = 0
  for (;;) {
    const rows = await deleteOrphanedReceipts(pool, receiptRows)
    deleted += rows
    if (rows < receiptRows || deleted >= receiptRowsMax) return deleted
  }
}
