/** Operations on deliveries. */
import * as store from './delivery-repository.ts'
import { tenantOf, type Tenant } from '../../api/caller.ts'
import { isId, type Id } from '../../api/ids.ts'
import { Problem, missing } from '../../api/problem.ts'
import { deliveryObject, type DeliveryRow } from './delivery.ts'
import { endpointObject, type EndpointRow } from './endpoint.ts'
import type { DeliveryStatus, WebhookDelivery } from '../../api/resources/webhook-delivery.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import { recordEvents } from '../../platform/events/outbox.ts'
import type { Platform } from '../../platform/platform.ts'
import { ManualAttempts, type AttemptDeps } from './manual-attempts.ts'
import { deliveryId } from './fan-out/matching.ts'
import { endpointIds, findEndpoint } from './endpoint-repository.ts'
import { lockedEndpoint } from './endpoints.ts'

export interface DeliveryService {
  /** Up to `limit + 1`, newest first. */
  list(
    sql: Db,
    tenant: Tenant,
    endpoint_id: string,
    status: DeliveryStatus | undefined,
    page: Page,
  ): Promise<WebhookDelivery[]>
  get(sql: Db, tenant: Tenant, endpoint_id: string, id: string): Promise<WebhookDelivery>
  /** Of any endpoint, including recently deleted ones. */
  find(sql: Db, tenant: Tenant, id: string): Promise<WebhookDelivery | null>
  /** Resolves after the first attempt or 5 seconds. */
  test(tenant: Tenant, endpoint_id: string): Promise<WebhookDelivery>
  /** One attempt now. Resolves after it or 5 seconds. */
  retry(tenant: Tenant, endpoint_id: string, id: string): Promise<WebhookDelivery>
  /** Newest first, of any endpoint, including recently deleted ones. */
  listOfObject(sql: Db, tenant: Tenant, object_id: string): Promise<WebhookDelivery[]>
  /**
   * The worker retries up to 5,000, oldest first. Resolves to how many. Problems: resource_missing,
   * delivery_state_invalid.
   */
  retryAll(
    sql: Db,
    tenant: Tenant,
    endpoint_id: string,
    status: 'delivered' | 'failed',
    dry_run: boolean,
  ): Promise<number>
  /**
   * Requested retries not attempted yet, and failures that existed at `created_until`, each up to 5,000. Problem:
   * resource_missing.
   */
  retryProgress(
    sql: Db,
    tenant: Tenant,
    endpoint_id: string,
    created_until: string,
  ): Promise<{ readonly pending: number; readonly failed: number }>
  /** Aborts attempts without counting them; the worker repeats them. */
  stop(): Promise<void>
}

/** Then the worker makes the attempt. */
const rescueAfterMs = 60_000

const retriedAtOnce = 5_000
const deletedEndpointsMax = 200
const eventsOfObjectMax = 50

export function deliveryService(deps: AttemptDeps): DeliveryService {
  const requested = new ManualAttempts(deps)
  return {
    ...deliveryReads(deps.platform),
    ...singleAttempts(deps.platform, requested),
    ...bulkRetries(deps.platform),
    stop: () => requested.stop(),
  }
}

const deliveryReads = (platform: Platform): Pick<DeliveryService, 'list' | 'get' | 'find' | 'listOfObject'> => ({
  async list(sql, tenant, endpoint_id, status, page) {
    await endpointOf(sql, tenant, endpoint_id)
    const known = async (id: string) =>
      isDeliveryId(id) && (await store.findDelivery(sql, tenant, endpoint_id, id)) !== null
    await requireCursor(page.starting_after, 'No delivery of this endpoint has the id', known)
    return (await store.listDeliveries(sql, tenant, endpoint_id, status, page)).map(deliveryObject)
  },
  async get(sql, tenant, endpoint_id, id) {
    await endpointOf(sql, tenant, endpoint_id)
    const row = isDeliveryId(id) ? await store.findDelivery(sql, tenant, endpoint_id, id) : null
    if (row === null) throw missing('webhook delivery', id)
    return deliveryObject(row)
  },
  async find(sql, tenant, id) {
    if (!isDeliveryId(id)) return null
    const endpoints = await endpointsOf(sql, tenant, platform)
    const [row] = await store.findDeliveries(
      sql,
      tenant,
      endpoints.map((endpoint_id) => ({ endpoint_id, id })),
    )
    return row === undefined ? null : deliveryObject(row)
  },
  async listOfObject(sql, tenant, object_id) {
    const events = await store.eventsOf(sql, tenant, object_id, eventsOfObjectMax)
    const endpoints = await endpointsOf(sql, tenant, platform)
    const keys = events.flatMap((event_id) =>
      endpoints.map((endpoint_id) => ({ endpoint_id, id: deliveryId(event_id, endpoint_id) })),
    )
    return (await store.findDeliveries(sql, tenant, keys)).map(deliveryObject)
  },
})

const singleAttempts = (platform: Platform, requested: ManualAttempts): Pick<DeliveryService, 'test' | 'retry'> => ({
  async test(tenant, endpoint_id) {
    const { endpoint, delivery } = await transact(platform.pool, (tx) =>
      testDelivery(tx, platform, tenant, endpoint_id),
    )
    if (delivery.status !== 'pending') return deliveryObject(delivery)
    return await requested.attemptAndAnswer(endpoint, delivery, true)
  },
  async retry(tenant, endpoint_id, id) {
    const next_run_at = isoTime(platform.clock.now() + rescueAfterMs)
    const { endpoint, delivery } = await transact(platform.pool, (tx) =>
      reopenDelivery(tx, tenant, endpoint_id, id, next_run_at),
    )
    return await requested.attemptAndAnswer(endpoint, delivery, false)
  },
})

const bulkRetries = (platform: Platform): Pick<DeliveryService, 'retryAll' | 'retryProgress'> => ({
  async retryAll(sql, tenant, endpoint_id, status, dry_run) {
    const count = await transact(sql, async (tx) => {
      requireActive(await lockedEndpoint(tx, tenant, endpoint_id))
      if (dry_run) return await store.countEnded(tx, tenant, endpoint_id, status, retriedAtOnce)
      return await store.retryEnded(tx, tenant, endpoint_id, {
        status,
        limit: retriedAtOnce,
        next_run_at: isoTime(platform.clock.now()),
      })
    })
    if (!dry_run) platform.notify('deliver')
    return count
  },
  async retryProgress(sql, tenant, endpoint_id, created_until) {
    await endpointOf(sql, tenant, endpoint_id)
    // in this order: a caller who reads that nothing is pending sees all failures
    const pending = await store.countRequested(sql, tenant, endpoint_id, retriedAtOnce)
    return {
      pending,
      failed: await store.countEnded(sql, tenant, endpoint_id, 'failed', retriedAtOnce, created_until),
    }
  },
})

const endpointsOf = (sql: Db, tenant: Tenant, { settings }: Platform): Promise<string[]> =>
  endpointIds(sql, tenant, settings.webhook_endpoint_limit + deletedEndpointsMax)

async function endpointOf(sql: Db, tenant: Tenant, id: string): Promise<EndpointRow> {
  const row = isId('we', id) ? await findEndpoint(sql, tenant, id) : null
  if (row === null) throw missing('webhook endpoint', id)
  return row
}

/** On a disabled endpoint the delivery has failed already. */
async function testDelivery(tx: Db, { clock, ids }: Platform, tenant: Tenant, endpoint_id: string): Promise<Requested> {
  const at = isoTime(clock.now())
  const endpoint = await lockedEndpoint(tx, tenant, endpoint_id)
  const event_id = ids('evt')
  const object = endpointObject(endpoint)
  await recordEvents(tx, [
    {
      ...tenantOf(tenant),
      id: event_id,
      type: 'webhook.test',
      object_id: endpoint.id,
      object,
      created_at: at,
      endpoint_id: endpoint.id,
    },
  ])
  const delivery = newDelivery(endpoint, ids('whd'), event_id, at)
  if (endpoint.status === 'active') {
    await store.insertRequested(tx, delivery, true, isoTime(clock.now() + rescueAfterMs))
    return { endpoint, delivery }
  }
  await store.insertEnded(tx, disabled(delivery))
  return { endpoint, delivery: disabled(delivery) }
}

async function reopenDelivery(
  tx: Db,
  tenant: Tenant,
  endpoint_id: string,
  id: string,
  next_run_at: string,
): Promise<Requested> {
  const refuse = (sentence: string) => new Problem('delivery_state_invalid', sentence)
  const endpoint = await lockedEndpoint(tx, tenant, endpoint_id)
  const row = isDeliveryId(id) ? await store.findDelivery(tx, tenant, endpoint_id, id) : null
  if (row === null) throw missing('webhook delivery', id)
  if (row.status === 'pending')
    throw refuse('The delivery is pending: it is attempted by itself. Wait until it is delivered or failed.')
  requireActive(endpoint)
  if ((await store.findEvent(tx, tenant, row.event_id)) === null)
    throw refuse('The event of this delivery is older than 30 days and no longer kept, so it cannot be sent again.')
  const taken = await store.deleteEnded(tx, tenant, endpoint_id, id)
  if (taken === null) throw refuse('The delivery is being retried by another request.')
  const delivery: DeliveryRow = { ...taken, status: 'pending' }
  await store.insertRequested(tx, delivery, false, next_run_at)
  return { endpoint, delivery }
}

function requireActive({ status }: EndpointRow): void {
  if (status !== 'active')
    throw new Problem(
      'delivery_state_invalid',
      'The endpoint is disabled. Set its status to active first, then retry the delivery.',
    )
}

interface Requested {
  readonly endpoint: EndpointRow
  readonly delivery: DeliveryRow
}

/** Fan-out ends delivery ids in hexadecimal digits, which are base32 digits as well. */
const isDeliveryId = (id: string): id is Id<'whd'> => isId('whd', id)

const newDelivery = (endpoint: EndpointRow, id: string, event_id: string, at: string): DeliveryRow => ({
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
  next_attempt_at: null,
  created_at: at,
})

const disabled = (delivery: DeliveryRow): DeliveryRow => ({
  ...delivery,
  status: 'failed',
  error: 'endpoint_disabled',
  error_message: 'The endpoint is disabled: nothing was sent. Set its status to active to receive events.',
})
