/** Periodic jobs of automations (behaviour: integrations 3.7, 4.8). */
import { deleteOrphanedReceipts } from './events/repository.ts'
import { redactionJob } from './redactions/redaction.ts'
import { firstRedaction } from './redactions/repository.ts'
import { cancelStoppedRuns } from './runs/cancellation.ts'
import { firstDue } from './runs/due-repository.ts'
import { listSealedSources, resealSource } from './sources/repository.ts'
import type { ContactService } from '../contacts/service.ts'
import type { PeriodicJob, Platform } from '../../platform/platform.ts'
import { resealAll } from '../../platform/secrets/resealing.ts'

const receiptRows = 2000
const receiptRowsMax = 200_000

export const automationPeriodicJobs = (platform: Platform, contacts: ContactService): PeriodicJob[] => [
  {
    name: 'reencrypt-integration-secrets',
    every_ms: 3600_000,
    run: () => resealAll(platform, { what: 'integration source', list: listSealedSources, reseal: resealSource }),
  },
  { name: 'delete-receipts', every_ms: 60_000, run: () => deleteReceipts(platform) },
  cancelStoppedRuns(platform),
  redactionJob({ platform, contacts }),
  { name: 'measure-integrations', every_ms: 15_000, run: () => measure(platform) },
]

async function measure({ pool, clock, metrics }: Platform): Promise<number> {
  const secondsSince = (time: string | null) => (time === null ? 0 : Math.max(0, clock.now() - Date.parse(time)) / 1000)
  metrics.automation_runs_overdue_seconds.set(secondsSince(await firstDue(pool)))
  metrics.integration_redaction_age_seconds.set(secondsSince(await firstRedaction(pool)))
  return 0
}

async function deleteReceipts({ pool }: Platform): Promise<number> {
  let deleted = 0
  for (;;) {
    const rows = await deleteOrphanedReceipts(pool, receiptRows)
    deleted += rows
    if (rows < receiptRows || deleted >= receiptRowsMax) return deleted
  }
}
