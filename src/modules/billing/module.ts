/** Wallets, packages, prices, top-ups and usage. */
import type { Module } from '../../module.ts'
import { ofAccount } from '../../platform/database/table-scope.ts'
import { mountHooks } from '../../platform/http/callback-routes.ts'
import { billingInvariants } from './invariants.ts'
import { billingRoutes } from './routes.ts'
import { billingService, type BillingService } from './service.ts'
import { receivePayment } from './top-ups/top-ups.ts'
import { billingPeriodicJobs } from './periodic-jobs.ts'

export const billingModule: Module<object, { readonly billing: BillingService }> = {
  name: 'billing',
  tables: {
    grants: ofAccount,
    ledger_entries: ofAccount,
    prices: ofAccount,
    top_ups: ofAccount,
    usage_rows: ofAccount,
    wallets: ofAccount,
  },
  build({ platform }) {
    const billing = billingService(platform)
    return {
      services: { billing },
      routes: billingRoutes(billing),
      mount: (server, bodies) => mountHooks(server, '/hooks/payments/:id', bodies, receivePayment(billing.topUps)),
      periodicJobs: billingPeriodicJobs(platform),
      invariants: billingInvariants,
      stop: { connections: () => billing.topUps.close() },
    }
  },
}
