/** The operations of channels: lookup, connection, templates and access to the adapters. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing } from '../../api/problem.ts'
import type { Channel, ConnectedChannel, Template } from '../../api/resources/channel.ts'
import { PermanentError } from '../../lib/http-client.ts'
import { isoTime } from '../../lib/clock.ts'
import { nameResolver, type Resolve } from '../../lib/sockets.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import { requireCursor, wrongCursor, type Page } from '../../platform/http/paging.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ProviderAdapter, MediaReference, Provider } from '../../providers/provider.ts'
import { missingChannel, channelCache } from './lookup.ts'
import { makeAdapters } from './adapters.ts'
import { defaultRate } from './validation.ts'
import { channelObject, type ChannelRow, type DeletedChannel } from './channel.ts'
import { isSessionLeased } from './sessions/repository.ts'
import * as store from './repository.ts'
import type { TemplateContent } from './templates/validation.ts'
import { channelTemplates, type ChannelTemplates } from './templates/templates.ts'
import { isTestChannel, testChannels } from './test-channels.ts'
import {
  createChannel,
  getChannel,
  reconnectChannel,
  removeChannel,
  setConnection,
  retryConnection,
  updateChannel,
  type ChannelCreation,
  type ChannelDeps,
  type ChannelUpdate,
} from './lifecycle.ts'

export { isUp, type ChannelRow } from './channel.ts'
export type { TemplateVerdict } from './templates/templates.ts'
export { isTestChannel } from './test-channels.ts'
export { channelSessions } from './sessions/sessions.ts'

export type ChannelService = ReturnType<typeof channelService>

export interface ChannelParts {
  readonly resolve?: Resolve
  readonly ca?: string
  /** For tests. */
  readonly providers?: readonly Provider[]
}

export function channelService(platform: Platform, parts: ChannelParts = {}) {
  const { clock, settings } = platform
  const adapters = makeAdapters({
    clock,
    resolve: parts.resolve ?? nameResolver(),
    provider_urls: settings.provider_urls,
    allowed_hosts: settings.webhook_allowed_hosts,
    ...(parts.ca === undefined ? {} : { ca: parts.ca }),
    ...(parts.providers === undefined ? {} : { providers: parts.providers }),
  })
  const cache = channelCache(platform)
  const deps: ChannelDeps = { platform, adapters, cache }
  const templates = channelTemplates(deps)
  return {
    ...cache,
    forget() {
      cache.forget()
      templates.forget()
    },
    ...lookupOperations(deps),
    ...lifecycleOperations(deps),
    ...templateOperations(deps, templates),
    ...adapterOperations(deps),
  }
}

const lookupOperations = (deps: ChannelDeps) => ({
  findForCallback: async (id: string): Promise<ChannelRow | null> =>
    isId('ch', id) ? await store.findAnyChannel(deps.platform.pool, id) : null,
  /** Same account, type and provider, with one of these identifiers. Not cached. */
  findSibling: (sql: Db, row: ChannelRow, identifiers: readonly string[]): Promise<ChannelRow | null> =>
    store.findByIdentifier(sql, row, identifiers),
  /** Including this one. Not cached. */
  listOfProviderAccount: (sql: Db, row: ChannelRow): Promise<ChannelRow[]> => listOfProviderAccount(deps, sql, row),
  get: (tenant: Tenant, id: string): Promise<ChannelRow> => getChannel(deps, tenant, id),
  /** Not cached. */
  read: (sql: Db, tenant: Tenant, id: string): Promise<Channel> => readChannel(deps, sql, tenant, id),
  /** Locks it against deletion. Throws 404 `resource_missing` for `param`. */
  requireExisting: (tx: Transaction, tenant: Tenant, id: string, param: string): Promise<void> =>
    requireExisting(tx, tenant, id, param),
  list: (sql: Db, tenant: Tenant, page: Page): Promise<Channel[]> => listChannels(deps.platform, sql, tenant, page),
  missing: missingChannel,
  deletedSince: (sql: Db, since: string): Promise<DeletedChannel[]> => store.listDeletedSince(sql, since),
  rateOf,
})

const lifecycleOperations = (deps: ChannelDeps) => ({
  create: (
    sql: Db,
    caller: Tenant,
    creation: ChannelCreation,
    keep: StoreAnswer<ConnectedChannel>,
  ): Promise<ConnectedChannel> => createChannel(deps, sql, caller, creation, keep),
  update: (sql: Db, tenant: Tenant, id: string, change: ChannelUpdate): Promise<Channel> =>
    updateChannel(deps, sql, tenant, id, change),
  remove: (sql: Db, tenant: Tenant, id: string): Promise<void> => removeChannel(deps, sql, tenant, id),
  reconnect: (sql: Db, tenant: Tenant, id: string): Promise<Channel> => reconnectChannel(deps, sql, tenant, id),
  /** Does not reset circuit breakers. */
  retryConnection: (sql: Db, tenant: Tenant, id: string): Promise<Channel> => retryConnection(deps, sql, tenant, id),
  setConnection: (sql: Db, row: ChannelRow, connection_status: 'connected' | 'disconnected'): Promise<Channel> =>
    setConnection(deps, sql, row, connection_status),
})

const templateOperations = (deps: ChannelDeps, templates: ChannelTemplates) => ({
  templates: async (sql: Db, tenant: Tenant, id: string): Promise<Template[]> =>
    await templates.list(sql, await getChannel(deps, tenant, id)),
  /** `ask`: looks a template up at the provider before refusing it (behaviour: channels 6). */
  templateVerdict: templates.verdictOf,
  templateVerdictAsked: (row: ChannelRow, content: unknown) => templates.verdictAsked(row, content as TemplateContent),
  templatesChanged: (sql: Db, row: ChannelRow): Promise<void> => templates.refreshSoon(sql, row),
  /** After the provider refused a template that the copies allow; at most every ten seconds. */
  templateRefused: (sql: Db, row: ChannelRow): Promise<void> => templates.refreshAfterRefusal(sql, row),
  templatesWorker: templates.worker,
  /** A marketing template (behaviour: consent 2.3). */
  isMarketing: async (row: ChannelRow, type: string, content: unknown): Promise<boolean> =>
    type === 'template' && (await templates.verdictOf(row, content, false)).marketing,
})

const adapterOperations = (deps: ChannelDeps) => {
  const { platform, adapters, cache } = deps
  return {
    offered: () => adapters.offered(platform.settings.simulator),
    openMedia: (
      row: ChannelRow,
      reference: MediaReference,
      bytes_max: number,
      signal: AbortSignal,
    ): Promise<Download> => openMedia(deps, row, reference, bytes_max, signal),
    adapterOf: (row: ChannelRow) => adapters.adapterOf(row.provider),
    sessionProviders: () => adapters.sessionProviders,
    needsSession: (row: ChannelRow): boolean =>
      adapters.adapterOf(row.provider)?.needsSession?.(cache.connection(row)) === true,
    isSessionLeased: (sql: Db, channel_id: string): Promise<boolean> =>
      isSessionLeased(sql, channel_id, isoTime(platform.clock.now())),
    sendsThroughSession: (row: ChannelRow): boolean => adapters.sendsThroughSession(row.provider),
    close: () => adapters.close(),
  }
}

const noChannelHas = 'No channel has the id'

async function readChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<Channel> {
  const { base_url } = deps.platform.settings
  if (tenant.mode === 'test') return channelObject(await getChannel(deps, tenant, id), base_url)
  const row = isId('ch', id) ? await store.findChannel(sql, tenant, id) : null
  if (row === null) throw await missingChannel(sql, tenant, id)
  return channelObject(row, base_url)
}

async function requireExisting(tx: Transaction, tenant: Tenant, id: string, param: string): Promise<void> {
  if (tenant.mode === 'live' && !(await store.lockAgainstDeletion(tx, tenant, id))) throw missing('channel', id, param)
}

async function listChannels({ settings }: Platform, sql: Db, tenant: Tenant, page: Page): Promise<Channel[]> {
  if (tenant.mode === 'live') {
    await requireCursor(
      page.starting_after,
      noChannelHas,
      async (id) => isId('ch', id) && (await store.channelExisted(sql, tenant, id)),
    )
    return (await store.listChannels(sql, tenant, page)).map((row) => channelObject(row, settings.base_url))
  }
  const all = testChannels(tenant).map((row) => channelObject(row, settings.base_url))
  if (page.starting_after === undefined) return all.slice(0, page.limit + 1)
  const at = all.findIndex((channel) => channel.id === page.starting_after)
  if (at === -1) throw wrongCursor(noChannelHas)
  return all.slice(at + 1, at + 2 + page.limit)
}

type Download = Awaited<ReturnType<NonNullable<ProviderAdapter['fetchMedia']>>>

async function openMedia(
  { adapters, cache }: ChannelDeps,
  row: ChannelRow,
  reference: MediaReference,
  bytes_max: number,
  signal: AbortSignal,
): Promise<Download> {
  const adapter = adapters.adapterOf(row.provider)
  if (adapter?.fetchMedia === undefined) throw new PermanentError(`The provider ${row.provider} has no inbound files.`)
  return await adapter.fetchMedia(reference, cache.connection(row), bytes_max, signal)
}

/** Messages per second; null: unlimited. */
const rateOf = (row: ChannelRow): number | null => {
  if (isTestChannel(row)) return null
  const set = row.settings['max_messages_per_second']
  return typeof set === 'number' ? set : defaultRate[row.type]
}

async function listOfProviderAccount(
  { adapters, cache }: ChannelDeps,
  sql: Db,
  row: ChannelRow,
): Promise<ChannelRow[]> {
  const adapter = adapters.adapterOf(row.provider)
  if (adapter?.accountKey === undefined) return [row]
  const accountOf = (one: ChannelRow): string | null => {
    try {
      return adapter.accountKey!(cache.connection(one))
    } catch {
      // the credentials cannot be decrypted
      return null
    }
  }
  const account = accountOf(row)
  return account === null ? [row] : (await store.listOfProvider(sql, row)).filter((one) => accountOf(one) === account)
}
