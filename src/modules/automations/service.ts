/** What integrations mean: sources and their keys, what they report, and the automations that act on it. */
import type { FindKey } from '../../platform/http/auth.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import type { Platform } from '../../platform/platform.ts'
import type { AccountService } from '../accounts/service.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ContactService } from '../contacts/service.ts'
import type { MessageService } from '../messages/service.ts'
import { automationService, type AutomationService } from './automations/service.ts'
import { deleteAutomationsOfSource } from './automations/store.ts'
import { knownSources } from './receivers/known-sources.ts'
import { receiverOf, type Receiver } from './receivers/receiver.ts'
import { reportingOf, type Reporting } from './reporting/reporting.ts'
import { runsWorker } from './runs/worker.ts'
import { cancelWaitingOf } from './runs/stopping.ts'
import { SourceService } from './sources/service.ts'
import { sourceKeys } from './sources/source-keys.ts'

export { getRun } from './runs/reading.ts'
export { getReceipt } from './reporting/receipts.ts'

export interface IntegrationDeps {
  readonly platform: Platform
  readonly accounts: AccountService
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly messages: MessageService
  /** No other process takes requests or works. */
  readonly alone: () => boolean
}

export interface IntegrationService {
  readonly workers: readonly Worker[]
  readonly sources: SourceService
  readonly automations: AutomationService
  /** Accepts what sources report. */
  readonly reporting: Reporting
  /** Takes the webhooks of shops and sites. */
  readonly receiver: Receiver
  /** Finds a source key. */
  readonly findKey: FindKey
  /** Forgets the sources and their keys that are held in memory. */
  forgetKeys(): void
}

export function integrationService(deps: IntegrationDeps): IntegrationService {
  const { platform, accounts } = deps
  const keys = sourceKeys(platform, accounts)
  const webhookSources = knownSources(platform, accounts)
  const forgetKeys = () => {
    keys.forget()
    webhookSources.forget()
  }
  const sources = new SourceService(platform, {
    forgetKeys() {
      forgetKeys()
      platform.notify('forget-keys')
    },
    stopped: (tenant, source_id, reason) => cancelWaitingOf(tenant, { source_id }, reason),
    removed: (tx, tenant, source_id) => deleteAutomationsOfSource(tx, tenant, source_id, isoTime(platform.clock.now())),
  })
  const reporting = reportingOf(deps)
  const receiver = receiverOf({ platform, sources: webhookSources, reporting })
  const automations = automationService(deps)
  return {
    workers: [runsWorker(deps, deps.alone)],
    sources,
    automations,
    reporting,
    receiver,
    findKey: (text) => keys.find(text),
    forgetKeys,
  }
}
