/** Automations: messages that follow events of shops and sites. */
import type { Module } from '../../module.ts'
import { on } from '../../module.ts'
import { ofAccount } from '../../platform/database/table-scope.ts'
import { isSourceKeyText } from '../accounts/service.ts'
import { pauseOfChannel } from './handlers.ts'
import { integrationInvariants } from './invariants.ts'
import { integrationRoutes } from './routes.ts'
import { automationProducer } from './runs/producer.ts'
import {
  cancelRunsOfAccounts,
  cancelRunsOfChannels,
  skipRunsOfContacts,
  skipUnsubscribedRuns,
} from './runs/repository.ts'
import { integrationService, type IntegrationDeps, type IntegrationService } from './service.ts'
import { integrationPeriodicJobs } from './periodic-jobs.ts'

type Needs = Omit<IntegrationDeps, 'platform' | 'alone'>

export const automationsModule: Module<Needs, { readonly integrations: IntegrationService }> = {
  name: 'automations',
  tables: {
    automation_events: ofAccount,
    automation_runs: ofAccount,
    automations: ofAccount,
    integration_redactions: ofAccount,
    integration_sources: ofAccount,
  },
  contributions: { producers: [automationProducer] },
  build({ platform, alone }, { accounts, channels, contacts, messages }) {
    const integrations = integrationService({ platform, accounts, channels, contacts, messages, alone })
    return {
      services: { integrations },
      routes: integrationRoutes(integrations),
      findKey: (text) => (isSourceKeyText(text) ? integrations.findKey(text) : null),
      workers: integrations.workers,
      periodicJobs: integrationPeriodicJobs(platform, contacts),
      invariants: integrationInvariants(platform),
      handlers: [
        on('opted_out', 'automations', skipUnsubscribedRuns),
        on('contact_deleted', 'automations', skipRunsOfContacts),
        on('channel_deleted', 'automations', pauseOfChannel(platform)),
        on('channel_deleted', 'automations', cancelRunsOfChannels),
        on('account_suspended', 'automations', cancelRunsOfAccounts),
      ],
      caches: { 'forget-keys': integrations.forgetKeys },
      stop: { producers: () => integrations.events.stop() },
    }
  },
}
