/** The module of webhooks. */
import type { Module } from '../../module.ts'
import { ofAccount, ofInstallation, ofParent } from '../../platform/database/table-scope.ts'
import { webhookDeliveryWorker } from './dispatch/worker.ts'
import { fanOutWorker } from './fan-out/worker.ts'
import { feedRoutes } from './feed/routes.ts'
import { feedService, type FeedService } from './feed/service.ts'
import { webhookInvariants } from './invariants.ts'
import { webhookPeriodicJobs } from './periodic-jobs.ts'
import { webhookRoutes } from './routes.ts'
import { webhookService, type WebhookService } from './service.ts'

interface WebhooksServices {
  readonly webhooks: WebhookService
  readonly feed: FeedService
}

export const webhooksModule: Module<object, WebhooksServices> = {
  name: 'webhooks',
  tables: {
    webhook_deliveries: ofAccount,
    webhook_endpoints: ofAccount,
    webhook_failures: ofAccount,
    webhook_fan_out: ofInstallation,
    webhook_leases: ofParent('endpoint_id', 'webhook_endpoints'),
    webhook_queue: ofAccount,
    webhook_retries: ofAccount,
    webhook_subscriptions: ofAccount,
  },
  build({ platform }) {
    const webhooks = webhookService(platform)
    const feed = feedService(platform)
    const deliver = webhookDeliveryWorker(platform, webhooks)
    return {
      services: { webhooks, feed },
      routes: [...webhookRoutes(webhooks), ...feedRoutes(feed)],
      workers: [fanOutWorker(platform), deliver.worker],
      periodicJobs: webhookPeriodicJobs(platform),
      invariants: webhookInvariants(platform),
      stop: { requests: () => deliver.stop(), connections: () => webhooks.close() },
    }
  },
}
