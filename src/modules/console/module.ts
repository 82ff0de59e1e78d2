/** The server side of the console: people, sign-in, teams, audit log and screens. */
import type { Module } from '../../module.ts'
import { on } from '../../module.ts'
import { ofAccount, ofInstallation } from '../../platform/database/table-scope.ts'
import { forgetContacts, updateConversations } from './conversations/conversations.ts'
import { consoleGuards } from './guards.ts'
import type { ConsoleServices } from './route.ts'
import { operatorRoutes } from './routes.ts'
import { operatorService, type OperatorService } from './service.ts'
import { mailOfDisabledEndpoint, mailOfLowBalance } from './team/owner-mail.ts'

export const consoleModule: Module<Omit<ConsoleServices, 'platform'>, { readonly operators: OperatorService }> = {
  name: 'console',
  tables: {
    audit_entries: ofAccount,
    conversation_messages: ofAccount,
    conversations: ofAccount,
    identities: ofInstallation,
    invitations: ofInstallation,
    limited_actions: ofInstallation,
    memberships: ofInstallation,
    request_log: ofAccount,
    request_log_sizes: ofAccount,
    sessions: ofInstallation,
    sign_in_failures: ofInstallation,
    user_tokens: ofInstallation,
    users: ofInstallation,
  },
  build({ platform }, services) {
    const operators = operatorService(platform, services.accounts, services.feed)
    const consoleRoutes = operatorRoutes({ ...services, platform, ...operators })
    return {
      services: { operators },
      consoleRoutes,
      guards: (limiter, routes) => consoleGuards({ ...services, platform, operators, consoleRoutes, limiter, routes }),
      noteAnswer: operators.requests.note,
      recorderOf: operators.recorderOf,
      apiWorkers: operators.workers,
      periodicJobs: operators.periodicJobs,
      handlers: [
        on('inbound_stored', 'conversations', updateConversations),
        on('contact_deleted', 'conversations', forgetContacts),
        on('balance_low', 'emails', mailOfLowBalance(platform)),
        on('endpoint_disabled', 'emails', mailOfDisabledEndpoint(platform)),
      ],
      stop: { requests: () => operators.streams.close(), dispatch: () => operators.stop() },
    }
  },
}
