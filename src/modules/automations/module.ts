/** Automations: messages that follow events of shops and sites. */
import type { Module } from '../../module.ts'
import { on } from '../../module.ts'
import { ofAccount } from '../../platform/database/table-scope.ts'
import { isSourceKeyText } from '../accounts/service.ts'
import { pauseOfChannel } from './handlers.ts'
import { automationInvariants } from './invariants.ts'
import { moduleRoutes } from './routes.ts'
import { automationProducer } from './runs/producer.ts'
import {
  cancelRunsOfAccounts,
  cancelRunsOfChannels,
  skipRunsOfContacts,
  skipUnsubscribedRuns,
} from './runs/repository.ts'
import { automationServices, type AutomationServiceDeps, type AutomationServices } from './service.ts'
import { automationPeriodicJobs } from './periodic-jobs.ts'

type Needs = Omit<AutomationServiceDeps, 'platform' | 'alone'>

export const automationsModule: Module<Needs, { readonly automations: AutomationServices }> = {
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
    const automations = automationServices({ platform, accounts, channels, contacts, messages, alone })
    return {
      services: { automations },
      routes: moduleRoutes(automations),
      findKey: (text) => (isSourceKeyText(text) ? automations.findKey(text) : null),
      workers: automations.workers,
      periodicJobs: automationPeriodicJobs(platform, contacts),
      invariants: automationInvariants(platform),
      handlers: [
        on('opted_out', 'automations', skipUnsubscribedRuns),
        on('contact_deleted', 'automations', skipRunsOfContacts),
        on('channel_deleted', 'automations', pauseOfChannel(platform)),
        on('channel_deleted', 'automations', cancelRunsOfChannels),
        on('account_suspended', 'automations', cancelRunsOfAccounts),
      ],
      caches: { 'forget-keys': automations.forgetKeys },
      stop: { producers: () => automations.events.stop() },
    }
  },
}
