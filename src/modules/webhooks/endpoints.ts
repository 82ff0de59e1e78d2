/** Operations on webhook endpoints. */
import { randomBytes } from 'node:crypto'
import * as store from './endpoint-repository.ts'
import { actorOf, type Caller, type Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { Problem, missing } from '../../api/problem.ts'
import type { WebhookEndpoint, WebhookEndpointWithSecret } from '../../api/resources/webhook-endpoint.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import { requireCursor, type Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import { dropPending } from './delivery-repository.ts'
import { clearFailures, failuresOf } from './dispatch/repository.ts'
import {
  endpointObject,
  checkEndpoint,
  type EndpointChange,
  type EndpointCreation,
  type EndpointRow,
} from './endpoint.ts'

/** In the transaction of the change; the worker drops the rest. */
const droppedAtOnce = 5_000

export type AddressRule = Parameters<typeof checkEndpoint>[1]

export class EndpointService {
  readonly #platform: Platform
  readonly #rule: AddressRule
  readonly #listeners: ((endpoint_id: string) => void)[] = []

  constructor(platform: Platform, rule: AddressRule) {
    this.#platform = platform
    this.#rule = rule
  }

  onChange(listener: (endpoint_id: string) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * `keep` stores the answer in the transaction. Problems: parameter_invalid, webhook_url_not_public,
   * webhook_endpoint_limit_reached.
   */
  async create(
    sql: Db,
    caller: Caller,
    input: EndpointCreation,
    keep: (tx: Db, shown: WebhookEndpointWithSecret) => Promise<void>,
  ): Promise<WebhookEndpointWithSecret> {
    await checkEndpoint(input, this.#rule)
    const { webhook_endpoint_limit } = this.#platform.settings
    const secret = newSecret()
    const row = newRow(this.#platform, caller, input, secret)
    return await transact(sql, async (tx) => {
      await store.lockEndpoints(tx, caller)
      if ((await store.countEndpoints(tx, caller)) >= webhook_endpoint_limit) {
        throw new Problem(
          'webhook_endpoint_limit_reached',
          `This account has ${webhook_endpoint_limit} webhook endpoints in ${caller.mode} mode, which is the limit. Delete one that is no longer used.`,
        )
      }
      await store.insertEndpoint(tx, row)
      await store.writeSubscriptions(tx, row, true)
      const shown = { ...endpointObject(row), secret }
      await keep(tx, shown)
      return shown
    })
  }

  async get(sql: Db, tenant: Tenant, id: string): Promise<WebhookEndpoint> {
    const row = isId('we', id) ? await store.findEndpoint(sql, tenant, id) : null
    if (row === null) throw missing('webhook endpoint', id)
    return endpointObject(row)
  }

  async list(sql: Db, tenant: Tenant, page: Page): Promise<WebhookEndpoint[]> {
    const existed = async (id: string) => isId('we', id) && (await store.endpointExisted(sql, tenant, id))
    await requireCursor(page.starting_after, 'No webhook endpoint has the id', existed)
    return (await store.listEndpoints(sql, tenant, page)).map(endpointObject)
  }

  async update(sql: Db, tenant: Tenant, id: string, change: EndpointChange): Promise<WebhookEndpoint> {
    if (!isId('we', id) || (await store.findEndpoint(sql, tenant, id)) === null) throw missing('webhook endpoint', id)
    await checkEndpoint(change, this.#rule)
    if (change.status === 'active') await dropPendingInSlices(sql, tenant, id)
    const updated = await transact(sql, async (tx) => {
      const before = await lockedEndpoint(tx, tenant, id)
      const after = rowAfter(this.#platform, before, change)
      const enabled = before.status === 'disabled' && after.status === 'active'
      if (enabled || after.status === 'disabled') await dropPending(tx, id, droppedAtOnce)
      await store.updateEndpoint(tx, after)
      if (after.status === 'disabled') await store.removeSubscriptions(tx, tenant, id)
      else await store.writeSubscriptions(tx, after, before.status === 'disabled')
      if (enabled) await clearFailures(tx, [id])
      return endpointObject(after)
    })
    this.#changed(id)
    return updated
  }

  async remove(sql: Db, tenant: Tenant, id: string): Promise<void> {
    await transact(sql, async (tx) => {
      await lockedEndpoint(tx, tenant, id)
      await store.removeSubscriptions(tx, tenant, id)
      await dropPending(tx, id, droppedAtOnce)
      await store.deleteEndpoint(tx, tenant, id, isoTime(this.#platform.clock.now()))
    })
    this.#changed(id)
  }

  /** The previous secret signs as well until then. */
  async rollSecret(
    sql: Db,
    tenant: Tenant,
    id: string,
    expire_previous_in_seconds: number,
  ): Promise<WebhookEndpointWithSecret> {
    const { clock, secrets } = this.#platform
    const secret = newSecret()
    const rolled = await transact(sql, async (tx) => {
      const before = await lockedEndpoint(tx, tenant, id)
      const overlap = expire_previous_in_seconds > 0
      const after: EndpointRow = {
        ...before,
        secret: secrets.seal(secret),
        previous_secret: overlap ? before.secret : null,
        previous_secret_until: overlap ? isoTime(clock.now() + expire_previous_in_seconds * 1000) : null,
      }
      await store.updateEndpoint(tx, after)
      return { ...endpointObject(after), secret }
    })
    this.#changed(id)
    return rolled
  }

  /** Unless the failures were reset. */
  async disableFailing(tenant: { account_id: string; mode: string }, id: string): Promise<void> {
    const { pool, settings, log, domain_events } = this.#platform
    const disabled = await transact(pool, async (tx) => {
      const row = await store.lockEndpoint(tx, tenant as Tenant, id)
      const failures = await failuresOf(tx, id)
      if (row === null || row.status === 'disabled' || failures < settings.webhook_disable_after) return false
      await store.updateEndpoint(tx, { ...row, status: 'disabled' })
      await store.removeSubscriptions(tx, row, id)
      await dropPending(tx, id, droppedAtOnce)
      const { account_id, mode, url, events } = row
      await domain_events.publish(tx, 'endpoint_disabled', [
        { account_id, mode, endpoint_id: id, url, events, failures },
      ])
      return true
    })
    if (disabled)
      log.warn(
        { endpoint_id: id, account_id: tenant.account_id },
        'a webhook endpoint was disabled after too many failures in a row',
      )
  }

  #changed(id: string): void {
    for (const listener of this.#listeners) listener(id)
    this.#platform.notify('deliver')
  }
}

/** With the lock, a PATCH that disables the endpoint waits, or is committed. */
export async function lockedEndpoint(sql: Db, tenant: Tenant, id: string): Promise<EndpointRow> {
  const row = isId('we', id) ? await store.lockEndpoint(sql, tenant, id) : null
  if (row === null) throw missing('webhook endpoint', id)
  return row
}

/** In slices, because every transaction delays the event feed. */
async function dropPendingInSlices(sql: Db, tenant: Tenant, id: string): Promise<void> {
  const slice = async (tx: Db) =>
    (await lockedEndpoint(tx, tenant, id)).status === 'disabled' ? await dropPending(tx, id, droppedAtOnce) : 0
  while ((await transact(sql, slice)) > 0) continue
}

const newRow = (platform: Platform, caller: Caller, input: EndpointCreation, secret: string): EndpointRow => ({
  account_id: caller.account_id,
  mode: caller.mode,
  id: platform.ids('we'),
  url: input.url,
  description: input.description ?? '',
  events: [...new Set(input.events)],
  status: 'active',
  filters: input.filters ?? {},
  metadata: input.metadata ?? {},
  source: input.source ?? null,
  created_by: actorOf(caller),
  secret: platform.secrets.seal(secret),
  previous_secret: null,
  previous_secret_until: null,
  verification_token: sealed(platform, input.verification_token ?? null),
  version: 1,
  created_at: isoTime(platform.clock.now()),
})

/** 32 random bytes; the whole text is the HMAC key, so that Stripe's public verifier accepts our header. */
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

const sealed = (platform: Platform, token: string | null): string | null =>
  token === null ? null : platform.secrets.seal(token)

/** Objects and arrays are replaced as a whole; null clears a field. */
function rowAfter(platform: Platform, row: EndpointRow, change: EndpointChange): EndpointRow {
  return {
    ...row,
    url: change.url ?? row.url,
    events: change.events === undefined ? row.events : [...new Set(change.events)],
    description: change.description ?? row.description,
    filters: change.filters === undefined ? row.filters : (change.filters ?? {}),
    metadata: change.metadata === undefined ? row.metadata : (change.metadata ?? {}),
    status: change.status ?? row.status,
    verification_token:
      change.verification_token === undefined ? row.verification_token : sealed(platform, change.verification_token),
  }
}
