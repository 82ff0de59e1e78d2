/** The service of webhooks for other modules. */
import { httpPoster, type HttpPoster } from '../../lib/http-poster.ts'
import { nameResolver, type Resolve } from '../../lib/sockets.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { deliveryService, type DeliveryService } from './deliveries.ts'
import { EndpointService } from './endpoints.ts'
import { movedColumns, type MovedColumns } from './fan-out/repository.ts'

export interface WebhookService {
  readonly endpoints: EndpointService
  readonly deliveries: DeliveryService
  readonly poster: HttpPoster
  /** Which change when an account moves to another installation, by table. */
  movedColumns(sql: Db): Promise<Readonly<Record<string, MovedColumns>>>
  /** Aborts requested attempts without counting them. */
  close(): Promise<void>
}

export interface WebhookParts {
  readonly resolve?: Resolve
  readonly ca?: string
  readonly random?: () => number
}

export function webhookService(platform: Platform, parts: WebhookParts = {}): WebhookService {
  const { clock, settings } = platform
  const resolve = parts.resolve ?? nameResolver()
  const allowed_hosts = settings.webhook_allowed_hosts
  const poster = httpPoster({ clock, resolve, allowed_hosts, ...(parts.ca === undefined ? {} : { ca: parts.ca }) })
  const endpoints = new EndpointService(platform, {
    allowed_hosts,
    resolve,
    sleep: (ms, signal) => clock.sleep(ms, signal),
  })
  const deliveries = deliveryService({
    platform,
    poster,
    random: parts.random ?? Math.random,
    disableFailing: (tenant, endpoint_id) => endpoints.disableFailing(tenant, endpoint_id),
  })
  return {
    endpoints,
    deliveries,
    poster,
    movedColumns,
    async close() {
      await deliveries.stop()
      await poster.close()
    },
  }
}
