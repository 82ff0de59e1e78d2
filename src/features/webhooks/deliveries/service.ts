/** Deliveries one by one: the record of an endpoint, a test on request, another attempt on request. */
import type { Tenant } from '../../../contract/caller.ts'
import { isId, type Id } from '../../../contract/ids.ts'
import { Problem, missing } from '../../../contract/problem.ts'
import { deliveryObject, endpointObject, eventBody } from '../present.ts'
import type { DeliveryStatus, WebhookDelivery } from '../../../contract/resources/webhook-delivery.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { HttpPoster } from '../../../lib/http-post.ts'
import { transact, type Db } from '../../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../../platform/http/paging.ts'
import { recordEvents } from '../../../platform/outbox.ts'
import type { Platform } from '../../../platform/platform.ts'
import { deliveryHeaders, attemptResultOf, targetOf } from '../dispatch/attempt.ts'
import { failuresOf } from '../dispatch/leases-store.ts'
import * as store from './store.ts'
import type { DeliveryRow } from './store.ts'
import { findEndpoint, lockEndpoint, type EndpointRow } from '../endpoints/store.ts'

export interface DeliveryService {
  /** Up to `limit + 1`, newest first. */
  list(sql: Db, tenant: Tenant, endpoint_id: string, status: DeliveryStatus | undefined, page: Page): Promise<WebhookDelivery[]>
  get(sql: Db, tenant: Tenant, endpoint_id: string, id: string): Promise<WebhookDelivery>
  /** Delivers a `webhook.test` event; resolves after the first attempt, at the latest after 5 seconds. */
  test(tenant: Tenant, endpoint_id: string): Promise<WebhookDelivery>
  /** One attempt now; resolves after it, at the latest after 5 seconds. */
  retry(tenant: Tenant, endpoint_id: string, id: string): Promise<WebhookDelivery>
  /** Gives up what is under way, uncounted: the lane makes it later. Resolves when nothing is any more. */
  stop(): Promise<void>
}

/** How long a caller waits for an attempt. */
const waitMs = 5_000
/** When this process dies over an attempt, the lane makes it after this time. */
const takenOverAfterMs = 60_000

export interface DeliveryDeps {
  readonly platform: Platform
  readonly poster: HttpPoster
  readonly random: () => number
  readonly disableFailing: (tenant: Tenant, endpoint_id: string) => Promise<void>
}

export function deliveryService({ platform, poster, random, disableFailing }: DeliveryDeps): DeliveryService {
  const { clock, pool, ids, settings, secrets, metrics, log } = platform
  const underWay = new Set<Promise<void>>()
  const end = new AbortController()

  async function attempt(endpoint: EndpointRow, delivery: DeliveryRow, scheduled: boolean): Promise<void> {
    const event = await store.findEvent(pool, endpoint, delivery.event_id)
    if (event === null) throw new Error(`the event ${delivery.event_id} is gone`)
    const started_at = clock.now()
    const [body, target] = [Buffer.from(eventBody(event)), targetOf(secrets, endpoint)]
    const outcome = await poster.post({
      url: target.url,
      headers: deliveryHeaders(target, event, body, started_at),
      body,
      timeout_ms: settings.webhook_timeout_ms,
      signal: end.signal,
    })
    if (outcome.error?.code === 'aborted') return
    metrics.attempts.inc({ kind: 'webhook', outcome: outcome.error?.code ?? 'delivered' })
    const done = attemptResultOf({ endpoint_id: endpoint.id, id: delivery.id, attempts: delivery.attempts, scheduled, started_at }, outcome, {
      clock,
      settings,
      random,
    })
    await transact(pool, (tx) => store.recordDirect(tx, done))
    if (done.status !== 'delivered' && (await failuresOf(pool, endpoint.id)) >= settings.webhook_disable_after) await disableFailing(endpoint, endpoint.id)
  }

  /** Runs the attempt beside the request, and answers with what is known when the caller's patience ends. */
  async function attemptAndAnswer(tenant: Tenant, endpoint: EndpointRow, delivery: DeliveryRow, scheduled: boolean): Promise<WebhookDelivery> {
    const work: Promise<void> = attempt(endpoint, delivery, scheduled)
      .catch((error: unknown) => log.error({ err: error, delivery_id: delivery.id }, 'a webhook attempt on request failed; the lane makes it later'))
      .finally(() => underWay.delete(work))
    underWay.add(work)
    const patience = new AbortController()
    await Promise.race([work, clock.sleep(waitMs, patience.signal)])
    patience.abort()
    return deliveryObject((await store.findDelivery(pool, tenant, endpoint.id, delivery.id)) ?? delivery)
  }

  const endpointOf = async (sql: Db, tenant: Tenant, id: string): Promise<EndpointRow> => {
    const row = isId('we', id) ? await findEndpoint(sql, tenant, id) : null
    if (row === null) throw missing('webhook endpoint', id)
    return row
  }

  return {
    async list(sql, tenant, endpoint_id, status, page) {
      await endpointOf(sql, tenant, endpoint_id)
      const known = async (id: string) => isDeliveryId(id) && (await store.findDelivery(sql, tenant, endpoint_id, id)) !== null
      await requireCursor(page.starting_after, 'No delivery of this endpoint has the id', known)
      return (await store.listDeliveries(sql, tenant, endpoint_id, status, page)).map(deliveryObject)
    },
    async get(sql, tenant, endpoint_id, id) {
      await endpointOf(sql, tenant, endpoint_id)
      const row = isDeliveryId(id) ? await store.findDelivery(sql, tenant, endpoint_id, id) : null
      if (row === null) throw missing('webhook delivery', id)
      return deliveryObject(row)
    },
    async test(tenant, endpoint_id) {
      const at = isoTime(clock.now())
      const { endpoint, delivery } = await transact(pool, async (tx) => {
        const endpoint = await lockedEndpoint(tx, tenant, endpoint_id)
        const event_id = ids('evt')
        await recordEvents(tx, [
          {
            ...tenantOf(tenant),
            id: event_id,
            type: 'webhook.test',
            object_id: endpoint.id,
            object: endpointObject(endpoint),
            created_at: at,
            endpoint_id: endpoint.id,
          },
        ])
        const delivery = newDelivery(endpoint, ids('whd'), event_id, at, isoTime(clock.now() + takenOverAfterMs))
        if (endpoint.status === 'active') await store.insertDirect(tx, delivery, true, delivery.next_attempt_at!)
        else await store.insertEnded(tx, disabled(delivery))
        return { endpoint, delivery }
      })
      if (endpoint.status !== 'active') return deliveryObject(disabled(delivery))
      return await attemptAndAnswer(tenant, endpoint, delivery, true)
    },
    async retry(tenant, endpoint_id, id) {
      const { endpoint, delivery } = await transact(pool, async (tx) => {
        const endpoint = await lockedEndpoint(tx, tenant, endpoint_id)
        const row = isDeliveryId(id) ? await store.findDelivery(tx, tenant, endpoint_id, id) : null
        if (row === null) throw missing('webhook delivery', id)
        if (row.status === 'pending')
          throw new Problem('delivery_state_invalid', 'The delivery is pending: it is attempted by itself. Wait until it is delivered or failed.')
        if (endpoint.status !== 'active')
          throw new Problem('delivery_state_invalid', 'The endpoint is disabled. Set its status to active first, then retry the delivery.')
        if ((await store.findEvent(tx, tenant, row.event_id)) === null)
          throw new Problem('delivery_state_invalid', 'The event of this delivery is older than 30 days and no longer kept, so it cannot be sent again.')
        const taken = await store.takeEnded(tx, tenant, endpoint_id, id)
        if (taken === null) throw new Problem('delivery_state_invalid', 'The delivery is being retried by another request.')
        const delivery: DeliveryRow = { ...taken, status: 'pending', next_attempt_at: isoTime(clock.now() + takenOverAfterMs) }
        await store.insertDirect(tx, delivery, false, delivery.next_attempt_at!)
        return { endpoint, delivery }
      })
      return await attemptAndAnswer(tenant, endpoint, delivery, false)
    },
    async stop() {
      end.abort()
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

/** Fan-out ends delivery ids in hexadecimal digits, which are base32 digits as well. */
const isDeliveryId = (id: string): id is Id<'whd'> => isId('whd', id)

const tenantOf = ({ account_id, mode }: Tenant): Tenant => ({ account_id, mode })

/** The endpoint, locked: a PATCH that disables it waits, or has already been made. */
async function lockedEndpoint(sql: Db, tenant: Tenant, id: string): Promise<EndpointRow> {
  const row = isId('we', id) ? await lockEndpoint(sql, tenant, id) : null
  if (row === null) throw missing('webhook endpoint', id)
  return row
}

const newDelivery = (endpoint: EndpointRow, id: string, event_id: string, at: string, due_at: string): DeliveryRow => ({
  account_id: endpoint.account_id,
  mode: endpoint.mode,
  endpoint_id: endpoint.id,
  id,
  event_id,
  event_type: 'webhook.test',
  status: 'pending',
  attempts: 0,
  response_status: null,
  duration_ms: null,
  error: null,
  error_message: null,
  next_attempt_at: due_at,
  created_at: at,
})

const disabled = (delivery: DeliveryRow): DeliveryRow => ({
  ...delivery,
  status: 'failed',
  error: 'endpoint_disabled',
  error_message: 'The endpoint is disabled: nothing was sent. Set its status to active to receive events.',
  next_attempt_at: null,
})
