/** The services of the automations module. */
import { isoTime } from '../../lib/clock.ts'
import type { FindKey } from '../../platform/http/auth.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import type { AccountService } from '../accounts/service.ts'
import { automationService, type AutomationService } from './automation-service.ts'
import type { AutomationDeps } from './deps.ts'
import { eventIngest, type Ingest } from './events/ingest.ts'
import { eventQueue, type EventQueue } from './events/queue.ts'
import { deleteAutomationsOfSource } from './repository.ts'
import { cancelWaitingOf } from './runs/cancellation.ts'
import { runsWorker } from './runs/worker.ts'
import { sourceKeys, webhookSenders } from './sources/lookup.ts'
import { SourceService } from './sources/service.ts'

export { getReceipt, getRun } from './queries.ts'

export interface AutomationServiceDeps extends AutomationDeps {
  readonly accounts: AccountService
  readonly alone: () => boolean
}

export interface AutomationServices {
  readonly workers: readonly Worker[]
  readonly sources: SourceService
  readonly automations: AutomationService
  readonly events: EventQueue
  readonly ingest: Ingest
  readonly findKey: FindKey
  forgetKeys(): void
}

export function automationServices(deps: AutomationServiceDeps): AutomationServices {
  const { platform, accounts } = deps
  const keys = sourceKeys(platform, accounts)
  const senders = webhookSenders(platform, accounts)
  const forgetKeys = () => {
    keys.forget()
    senders.forget()
  }
  const sources = new SourceService(platform, {
    forgetKeys() {
      forgetKeys()
      platform.notify('forget-keys')
    },
    cancellation: (tenant, source_id, reason) => cancelWaitingOf(tenant, { source_id }, reason),
    removed: (tx, tenant, source_id) => deleteAutomationsOfSource(tx, tenant, source_id, isoTime(platform.clock.now())),
  })
  const events = eventQueue(deps)
  return {
    workers: [runsWorker(deps, deps.alone)],
    sources,
    automations: automationService(deps),
    events,
    ingest: eventIngest({ platform, senders, events }),
    findKey: (text) => keys.find(text),
    forgetKeys,
  }
}
