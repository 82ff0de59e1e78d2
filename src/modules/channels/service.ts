/** What channels mean: the sandbox ones that always stand, the connected ones, their templates and their link to the provider. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing } from '../../api/problem.ts'
import type { Channel, ConnectedChannel, Template } from '../../api/resources/channel.ts'
import { PermanentError } from '../../lib/permanent-error.ts'
import { isoTime } from '../../lib/clock.ts'
import { nameResolver, type Resolve } from '../../lib/name-lookup.ts'
import type { Db, Transaction } from '../../platform/database/sql.ts'
import { requireCursor, wrongCursor, type Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import type { ProviderAdapter, MediaReference, Provider } from '../../providers/provider.ts'
import { missingChannel } from './missing.ts'
import { makeAdapters } from './adapters.ts'
import { channelCache } from './channel-cache.ts'
import { defaultRate } from './channel-input.ts'
import { channelObject } from './present.ts'
import { isSessionHeld } from './sessions-store.ts'
import * as store from './store.ts'
import type { ChannelRow } from './store.ts'
import type { TemplateContent } from './template-check.ts'
import { channelTemplates } from './templates.ts'
import { isTestChannel, testChannels } from './test-channels.ts'
import {
  createChannel,
  getChannel,
  reconnectChannel,
  removeChannel,
  setConnection,
  tryLink,
  updateChannel,
  type ChannelCreation,
  type ChannelDeps,
  type ChannelUpdate,
  type KeepChannel,
} from './writing.ts'

export type { ChannelRow } from './store.ts'
export type { TemplateVerdict } from './templates.ts'
export { isTestChannel } from './test-channels.ts'
export { channelSessions } from './sessions.ts'

export type ChannelService = ReturnType<typeof channelService>

/** Whether messages may go out on a channel: it is active, and linked to its provider. */
export const isUp = ({ status, connection_status }: Pick<ChannelRow, 'status' | 'connection_status'>): boolean =>
  status === 'active' && connection_status === 'connected'

export interface ChannelParts {
  /** By default names are looked up for real. */
  readonly resolve?: Resolve
  /** Certificates to trust besides the system's. */
  readonly ca?: string
  /** Those of tests, beside the product's. */
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
    /** The connected channel that a provider's callback names; the callback carries no tenant. */
    findForCallback: async (id: string): Promise<ChannelRow | null> =>
      isId('ch', id) ? await store.findAnyChannel(platform.pool, id) : null,
    /** The channel of the same account, type and provider that has one of these identifiers, whatever another process has changed a moment ago. */
    findSibling: (sql: Db, row: ChannelRow, identifiers: readonly string[]): Promise<ChannelRow | null> =>
      store.findByIdentifier(sql, row, identifiers),
    /** The tenant's channels that are connected with the same account at their provider, this one among them, whatever another process has changed a moment ago. */
    listOfProviderAccount: (sql: Db, row: ChannelRow): Promise<ChannelRow[]> => listOfProviderAccount(deps, sql, row),
    get: (tenant: Tenant, id: string): Promise<ChannelRow> => getChannel(deps, tenant, id),
    /** The channel as it stands, whatever another process has changed a moment ago. */
    read: (sql: Db, tenant: Tenant, id: string): Promise<Channel> => readChannel(deps, sql, tenant, id),
    /** Keeps the channel from being deleted until the transaction ends. Throws 404 `resource_missing` about `param` where there is none. */
    requireStanding: (tx: Transaction, tenant: Tenant, id: string, param: string): Promise<void> =>
      requireStanding(tx, tenant, id, param),
    list: (sql: Db, tenant: Tenant, page: Page): Promise<Channel[]> => listChannels(platform, sql, tenant, page),
    templates: async (sql: Db, tenant: Tenant, id: string): Promise<Template[]> =>
      await templates.list(sql, await getChannel(deps, tenant, id)),
    /** Why a template message is refused, if it is, and whether it is marketing; `ask`: the provider is asked before it is refused (behaviour: channels 6). */
    templateVerdict: templates.verdictOf,
    /** As `templateVerdict`, with the provider asked in any case. */
    templateVerdictAsked: (row: ChannelRow, content: unknown) =>
      templates.verdictAsked(row, content as TemplateContent),
    /** The templates of this channel have changed, the provider says: they are read anew. */
    templatesChanged: (sql: Db, row: ChannelRow): Promise<void> => templates.readSoon(sql, row),
    /** The provider has refused a template that our copy has as fit: they are read anew, every ten seconds at most. */
    templateRefused: (sql: Db, row: ChannelRow): Promise<void> => templates.readAfterRefusal(sql, row),
    templatesWorker: templates.worker,

    /** The refusal of a channel that there is not; says what was probably meant. */
    missing: missingChannel,
    /** The providers that a channel may be connected with. */
    offered: () => adapters.offered(settings.simulator),
    /** `keep` keeps what is to be answered, in the transaction that creates. */
    create: (sql: Db, caller: Tenant, creation: ChannelCreation, keep: KeepChannel): Promise<ConnectedChannel> =>
      createChannel(deps, sql, caller, creation, keep),
    update: (sql: Db, tenant: Tenant, id: string, change: ChannelUpdate): Promise<Channel> =>
      updateChannel(deps, sql, tenant, id, change),
    remove: (sql: Db, tenant: Tenant, id: string): Promise<void> => removeChannel(deps, sql, tenant, id),
    /** The channels of all accounts that were deleted at this time or later. */
    deletedSince: (sql: Db, since: string): Promise<store.DeletedChannel[]> => store.listDeletedSince(sql, since),
    /** Tries the channel's link for somebody who asks for it; answers the channel once it is connected. */
    reconnect: (sql: Db, tenant: Tenant, id: string): Promise<Channel> => reconnectChannel(deps, sql, tenant, id),
    /** As `reconnect`, by the service itself: nobody says that its provider answers again. */
    tryLink: (sql: Db, tenant: Tenant, id: string): Promise<Channel> => tryLink(deps, sql, tenant, id),
    /** Writes a changed link and its event; an unchanged one writes nothing. */
    setConnection: (sql: Db, row: ChannelRow, connection_status: 'connected' | 'disconnected'): Promise<Channel> =>
      setConnection(deps, sql, row, connection_status),

    rateOf,
    /** Whether a message is marketing, which its recipient may have stopped while everything else passes (behaviour: consent 2.3). */
    isMarketing: async (row: ChannelRow, type: string, content: unknown): Promise<boolean> =>
      type === 'template' && (await templates.verdictOf(row, content, false)).marketing,
    /** Fetches a file that came in; rejects as `media` of an adapter, with a sentence without secrets. */
    openMedia: (
      row: ChannelRow,
      reference: MediaReference,
      bytes_max: number,
      signal: AbortSignal,
    ): Promise<Download> => openMedia(deps, row, reference, bytes_max, signal),
    adapterOf: (row: ChannelRow) => adapters.adapterOf(row.provider),
    /** The names of providers that open sessions. */
    sessionProviders: () => adapters.sessionProviders,
    /** Whether one process of the installation holds a session for it. Throws where its credentials cannot be opened. */
    needsSession: (row: ChannelRow): boolean =>
      adapters.adapterOf(row.provider)?.needsSession?.(cache.connection(row)) === true,
    /** Whether a process of the installation has its session at this moment, open or being opened. */
    isSessionHeld: (sql: Db, channel_id: string): Promise<boolean> =>
      isSessionHeld(sql, channel_id, isoTime(clock.now())),
    /** Whether its messages are handed over by the process alone that holds its session. */
    sendsThroughSession: (row: ChannelRow): boolean => adapters.sendsThroughSession(row.provider),
    close: () => adapters.close(),
  }
}

const noChannelHas = 'No channel has the id'

/** The channel as it stands, whatever another process has changed a moment ago. */
async function readChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<Channel> {
  const { base_url } = deps.platform.settings
  if (tenant.mode === 'test') return channelObject(await getChannel(deps, tenant, id), base_url)
  const row = isId('ch', id) ? await store.findChannel(sql, tenant, id) : null
  if (row === null) throw await missingChannel(sql, tenant, id)
  return channelObject(row, base_url)
}

/** Those of the sandbox always stand. */
async function requireStanding(tx: Transaction, tenant: Tenant, id: string, param: string): Promise<void> {
  if (tenant.mode === 'live' && !(await store.shareChannel(tx, tenant, id))) throw missing('channel', id, param)
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
  if (adapter?.fetchMedia === undefined) throw new PermanentError(`The provider ${row.provider} hands out no files.`)
  return await adapter.fetchMedia(reference, cache.connection(row), bytes_max, signal)
}

/** Messages a second that may be handed over on this channel; null: as many as come. */
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
      // its credentials cannot be opened: with which account it is connected is not known
      return null
    }
  }
  const account = accountOf(row)
  return account === null ? [row] : (await store.listOfProvider(sql, row)).filter((one) => accountOf(one) === account)
}
