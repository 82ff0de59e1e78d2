/** How channels are connected, changed and deleted: a link is tried before anything is written, and processes hear of a change at once. */
import { tenantOf, type Tenant } from '../../api/caller.ts'
import { invalid, missing, Problem, throwFailures } from '../../api/problem.ts'
import type { Channel, ChannelType, ConnectedChannel } from '../../api/resources/channel.ts'
import { isoTime, withDeadline } from '../../lib/clock.ts'
import { didNotCommit, transact, transactionId, violatedConstraint, type Db } from '../../platform/database/sql.ts'
import { recordEvents, type NewEvent } from '../../platform/events/outbox.ts'
import type { Platform } from '../../platform/platform.ts'
import { withMeantPhone } from '../accounts/service.ts'
import type { ProviderAdapter, Connection, Provider, TemplateRecord } from '../../providers/provider.ts'
import type { Adapters } from './adapters.ts'
import type { ChannelCache } from './channel-cache.ts'
import { withRate, wrongCredentials, wrongSender, wrongSettings } from './channel-input.ts'
import { chooseProvider, madeCredentials, tryConnection } from './connecting.ts'
import { missingChannel } from './missing.ts'
import { channelObject, webhookUrl } from './present.ts'
import { isSessionOpen } from './sessions-store.ts'
import * as store from './store.ts'
import type { ChannelRow } from './store.ts'
import { firstTemplates, keepFirstTemplates } from './templates.ts'
import { isTestChannel } from './test-channels.ts'

/** How long the provider of a deleted channel may take to hear of it. */
const takeBackTimeoutMs = 5_000

/** What writing a channel needs besides the database of the request. */
export interface ChannelDeps {
  readonly platform: Platform
  readonly adapters: Adapters
  readonly cache: ChannelCache
}

export interface ChannelCreation {
  type: string
  provider?: string
  name: string
  identifier?: string
  credentials: Record<string, unknown>
  settings?: Record<string, unknown>
}

/** Keeps what a creation is answered, in the transaction that creates. */
export type KeepChannel = (tx: Db, shown: ConnectedChannel) => Promise<void>

type NewChannel = Parameters<typeof store.insertChannel>[1]

export interface ChannelUpdate {
  readonly name?: string
  readonly status?: 'active' | 'disabled'
  /** Replaced whole. */
  readonly settings?: Record<string, unknown>
  /** Replaced whole, but for a `verify_token` that is left out. */
  readonly credentials?: Record<string, unknown>
}

/**
 * Connects a channel: the credentials are tried at once, and nothing is created where the provider refuses or cannot be reached. A `verify_token`
 * that was made is shown here and never again (behaviour: channels 2.4, 2.5). `keep` keeps what is to be answered, in the transaction that creates.
 */
export async function createChannel(
  deps: ChannelDeps,
  sql: Db,
  tenant: Tenant,
  creation: ChannelCreation,
  keep: KeepChannel,
): Promise<ConnectedChannel> {
  const { platform, adapters } = deps
  const { clock, ids, secrets, settings } = platform
  const { provider, type } = chooseProvider(creation, (type) => adapters.connectable(type, settings.simulator))
  await refuseWrong(platform, tenant, provider, type, creation)
  const free = async (identifier: string) => {
    if ((await store.findHolder(sql, type, identifier)) !== null) throw taken(type, identifier)
  }
  if (creation.identifier !== undefined) await free(creation.identifier)
  const made = madeCredentials(provider, creation.credentials)
  const channel_id = ids('ch')
  const connection: Connection = {
    channel_id,
    type,
    identifier: creation.identifier ?? '',
    credentials: { ...creation.credentials, ...made },
    settings: withRate(type, creation.settings ?? {}),
    webhook_url: webhookUrl(settings.base_url, channel_id),
  }
  const adapter = adapters.adapterOf(provider.name)!
  const undo = (set_up: Connection) =>
    takeBack(deps, sql, { id: channel_id, type, identifier: set_up.identifier, provider: provider.name }, () => set_up)
  const identifier = await tryConnection({ clock, provider, adapter, takeBack: undo }, connection, free)
  const row: NewChannel = {
    account_id: tenant.account_id,
    mode: 'live',
    id: channel_id,
    type,
    provider: provider.name,
    name: creation.name,
    identifier,
    status: 'active',
    connection_status: 'connected',
    capabilities: provider.capabilities(type, connection.settings),
    settings: connection.settings,
    credentials: secrets.seal(JSON.stringify(connection.credentials)),
    created_at: isoTime(clock.now()),
  }
  const registered: Connection = { ...connection, identifier }
  let transaction: string | undefined
  let shown: ConnectedChannel
  try {
    const templates = await firstTemplates(deps, provider.name, registered)
    shown = await transact(sql, async (tx) => {
      transaction = await transactionId(tx)
      const connected = { ...(await insertConnected(platform, tx, row, templates)), ...made }
      await keep(tx, connected)
      return connected
    })
  } catch (error) {
    // one whose commit was not answered may stand
    if (transaction === undefined || (await didNotCommit(sql, transaction))) await undo(registered)
    else
      platform.log.warn(
        { channel_id },
        'nobody can say yet whether a channel came to be; what was set up with its provider stays',
      )
    throw error
  }
  platform.notify('sessions')
  return shown
}

/** Everything that is wrong with a creation, at once; what schemas cannot say only where they found nothing. */
async function refuseWrong(
  { settings, pool }: Platform,
  tenant: Tenant,
  provider: Provider,
  type: ChannelType,
  creation: ChannelCreation,
): Promise<void> {
  const failures = [
    ...wrongSender(provider, type, creation.identifier),
    ...wrongCredentials(provider, creation.credentials),
    ...wrongSettings(provider, creation.settings),
  ]
  const wrong =
    failures.length > 0
      ? failures
      : (provider.check?.({ type, credentials: creation.credentials, allowed_hosts: settings.webhook_allowed_hosts }) ??
        [])
  if (wrong.length > 0) throwFailures(await withMeantPhone(pool, tenant, wrong, 'identifier', creation.identifier))
}

async function insertConnected(
  platform: Platform,
  tx: Db,
  given: NewChannel,
  templates: readonly TemplateRecord[] | null,
): Promise<Channel> {
  const row = await store.insertChannel(tx, given).catch((error: unknown) => {
    throw violatedConstraint(error) === 'channels_identifier' ? taken(given.type, given.identifier) : error
  })
  if (templates !== null) await keepFirstTemplates(tx, platform, row, templates)
  const channel = channelObject(row, platform.settings.base_url)
  await recordEvents(tx, [connectionEvent(platform, row, channel, row.created_at)])
  return channel
}

/**
 * Changes what is given. New credentials are tried as at creation before anything is written, and the channel is connected then (behaviour: channels 3.4).
 * Problems: parameter_invalid, upstream_rejected, upstream_unavailable, channel_not_connected, resource_missing.
 */
export async function updateChannel(
  deps: ChannelDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  change: ChannelUpdate,
): Promise<Channel> {
  const { platform } = deps
  const { credentials: given, ...plain } = change
  const row = await getChangeable(deps, tenant, id)
  const provider = deps.adapters.providerOf(row.provider)
  refuseWrongChange(platform, row, provider, change)
  const rate = change.settings === undefined ? undefined : withRate(row.type, change.settings)
  const credentials =
    given === undefined
      ? undefined
      : await renewCredentials(deps, sql, { ...row, settings: rate ?? row.settings }, given)
  const changed = await transact(sql, async (tx) => {
    const written = await store.updateChannel(tx, tenant, id, {
      ...plain,
      ...(rate === undefined
        ? {}
        : { settings: rate, capabilities: provider?.capabilities(row.type, rate) ?? row.capabilities }),
      ...(credentials === undefined ? {} : { credentials, link_tried_at: isoTime(platform.clock.now()) }),
    })
    if (written === null) throw missing('channel', id)
    return credentials === undefined
      ? channelObject(written, platform.settings.base_url)
      : await setConnection(deps, tx, written, 'connected')
  }).finally(() => publishChange(deps))
  return changed
}

function refuseWrongChange(
  { settings }: Platform,
  { type }: ChannelRow,
  provider: Provider | undefined,
  change: ChannelUpdate,
): void {
  const { credentials } = change
  const failures = [
    ...wrongSettings(provider, change.settings),
    ...(provider === undefined || credentials === undefined ? [] : wrongCredentials(provider, credentials)),
  ]
  const wrong =
    failures.length > 0 || credentials === undefined
      ? failures
      : (provider?.check?.({ type, credentials, allowed_hosts: settings.webhook_allowed_hosts }) ?? [])
  throwFailures(wrong)
}

/** Tries credentials in the place of those that a channel has, and tells its provider where to call back. Resolves to them, sealed. */
async function renewCredentials(
  deps: ChannelDeps,
  sql: Db,
  row: ChannelRow,
  given: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { clock, secrets, settings } = deps.platform
  const { provider, adapter } = getConnectable(deps, row)
  const credentials = { ...keptVerifyToken(deps.cache, provider, row), ...given }
  const { id: channel_id, type, identifier } = row
  const connection = {
    channel_id,
    type,
    identifier,
    credentials,
    settings: row.settings,
    webhook_url: webhookUrl(settings.base_url, channel_id),
  }
  // where the provider lets no second session be, that of the same login is ours
  const has_session =
    adapter.needsSession?.(connection) === true &&
    isSameLogin(deps, provider, row, credentials) &&
    (await hasSession(deps, sql, tenantOf(row), row.id))
  await tryConnection({ clock, provider, adapter, otherSender, has_session }, connection, async () => undefined)
  return secrets.seal(JSON.stringify(credentials))
}

/** Whether credentials differ in nothing but secrets from those that the channel has. */
function isSameLogin(
  { cache }: ChannelDeps,
  provider: Provider,
  row: ChannelRow,
  credentials: Readonly<Record<string, unknown>>,
): boolean {
  const declared = provider.credentials.properties as Readonly<Record<string, { readonly format?: string }>>
  const open = Object.keys(declared).filter((name) => declared[name]!.format !== 'password')
  try {
    const before = cache.connection(row).credentials
    return open.every((name) => before[name] === credentials[name])
  } catch {
    return false // credentials that cannot be opened any more are no login
  }
}

const otherSender = ({ title }: Provider, told: string): Problem =>
  invalid(
    'credentials',
    'invalid_value',
    `${title} says that these credentials are those of ${told}, and a channel keeps its sender. Give those of its own sender, or connect a channel for ${told}.`,
  )

/** Of a channel whose own credentials have come to be those of another sender. */
const senderLost = ({ title }: Provider, told: string): Problem =>
  new Problem(
    'upstream_rejected',
    `${title} says that the credentials of this channel are those of ${told} now, and a channel keeps its sender. ` +
      `Give it those of its own sender with PATCH /v1/channels/{id}, or connect a channel for ${told}.`,
  )

/** The word of the handshake that the provider knows already. What cannot be opened any more, after the loss of a key, is nothing. */
function keptVerifyToken(cache: ChannelCache, provider: Provider, row: ChannelRow): { verify_token?: string } {
  if (!('verify_token' in provider.credentials.properties)) return {}
  try {
    const { verify_token } = cache.connection(row).credentials
    return typeof verify_token === 'string' ? { verify_token } : {}
  } catch {
    return {}
  }
}

/** The code of a channel's provider; Problem `channel_not_connected` where it is not part of the service any more. */
function getConnectable({ adapters }: ChannelDeps, row: ChannelRow): { provider: Provider; adapter: ProviderAdapter } {
  const [provider, adapter] = [adapters.providerOf(row.provider), adapters.adapterOf(row.provider)]
  if (provider === undefined || adapter === undefined)
    throw new Problem(
      'channel_not_connected',
      `The provider ${row.provider} of this channel is not part of this service any more.`,
    )
  return { provider, adapter }
}

/**
 * Deletes a channel: sends are 404 from now on; the domain event `channel_deleted` is published in the same transaction. Then its provider is told, where it
 * has something to take back.
 */
export async function removeChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<void> {
  const row = await getChangeable(deps, tenant, id)
  await transact(sql, async (tx) => {
    if (!(await store.deleteChannel(tx, tenant, id, isoTime(deps.platform.clock.now())))) throw missing('channel', id)
    await deps.platform.domain_events.publish(tx, 'channel_deleted', [
      { account_id: tenant.account_id, mode: tenant.mode, channel_id: id },
    ])
  })
  publishChange(deps)
  await takeBack(deps, sql, row, () => deps.cache.connection(row))
}

/**
 * Takes back what was set up with the provider of a channel that is gone, or never came to be. Whether the provider hears of it or not, it is so. What it
 * undoes may be that of another channel which has come to hold the sender meanwhile: that one is set up anew. Never rejects.
 */
async function takeBack(
  deps: ChannelDeps,
  sql: Db,
  gone: Pick<ChannelRow, 'id' | 'type' | 'identifier' | 'provider'>,
  connection: () => Connection,
): Promise<void> {
  const { platform, adapters } = deps
  const { id, provider } = gone
  const adapter = adapters.adapterOf(provider)
  if (adapter?.disconnect === undefined) return
  try {
    await withDeadline(
      platform.clock,
      takeBackTimeoutMs,
      async (signal) => await adapter.disconnect!(connection(), signal),
    )
  } catch (error) {
    platform.log.warn(
      { err: error, channel_id: id },
      'a provider could not be told that a channel is gone; take its webhook back by hand',
    )
  }
  await registerHolder(deps, sql, adapter, gone)
}

/** Tells the provider anew where to call back for the channel that holds the sender of one that is gone. Never rejects. */
async function registerHolder(
  { platform, cache }: ChannelDeps,
  sql: Db,
  adapter: ProviderAdapter,
  { id, type, identifier, provider }: Pick<ChannelRow, 'id' | 'type' | 'identifier' | 'provider'>,
): Promise<void> {
  let holder: ChannelRow | null = null
  try {
    holder = await store.findHolder(sql, type, identifier)
    if (holder === null || holder.id === id || holder.provider !== provider) return
    const connection = cache.connection(holder)
    const answer = await withDeadline(
      platform.clock,
      takeBackTimeoutMs,
      async (signal) => await adapter.register?.(connection, signal),
    )
    if (answer !== undefined && answer.kind !== 'connected') throw new Error(answer.message)
  } catch (error) {
    platform.log.warn(
      { err: error, channel_id: holder?.id ?? id },
      'a provider may call the channel of a sender no more; POST /v1/channels/{id}/reconnect tells it anew',
    )
  }
}

/** Tries the channel's link because somebody asks for it: what waits for its provider to answer goes on at once (behaviour: channels 4.3). */
export async function reconnectChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<Channel> {
  const channel = await tryLink(deps, sql, tenant, id)
  await store.markLinkTried(sql, tenant, id, isoTime(deps.platform.clock.now()))
  publishChange(deps)
  return channel
}

/**
 * Tries the channel's link again, also where it counts as connected; answers the channel once it is. Where the provider refuses its credentials it is
 * disconnected at once; nothing else that fails changes anything, and a session that stands goes on (behaviour: channels 4.3, 4.4).
 */
export async function tryLink(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<Channel> {
  const row = await getChangeable(deps, tenant, id)
  const { provider, adapter } = getConnectable(deps, row)
  const { clock } = deps.platform
  const connection = deps.cache.connection(row)
  const has_session = adapter.needsSession?.(connection) === true && (await hasSession(deps, sql, tenant, id))
  const refused = async () => {
    if (has_session) return 'the session that stands goes on'
    if (row.connection_status === 'connected') await setConnection(deps, sql, row, 'disconnected')
    return 'until then the channel is disconnected'
  }
  await tryConnection(
    { clock, provider, adapter, otherSender: senderLost, has_session, refused },
    connection,
    async () => undefined,
  )
  return await setConnection(deps, sql, row, 'connected')
}

/** Whether the channel's session is open in one of the processes, which say so within a moment. */
async function hasSession({ platform }: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<boolean> {
  const row = await store.findChannel(sql, tenant, id)
  return row?.connection_status === 'connected' && (await isSessionOpen(sql, id, isoTime(platform.clock.now())))
}

/** Writes a changed link and its event; an unchanged one writes nothing. */
export async function setConnection(
  deps: ChannelDeps,
  sql: Db,
  row: ChannelRow,
  connection_status: 'connected' | 'disconnected',
): Promise<Channel> {
  const { platform } = deps
  const tenant = tenantOf(row)
  const channel = await transact(sql, async (tx) => {
    const written = await store.changeConnection(tx, tenant, row.id, connection_status)
    if (written === null) {
      const unchanged = await store.findChannel(tx, tenant, row.id)
      if (unchanged === null) throw missing('channel', row.id)
      return channelObject(unchanged, platform.settings.base_url)
    }
    const changed = channelObject(written, platform.settings.base_url)
    await recordEvents(tx, [connectionEvent(platform, written, changed, isoTime(platform.clock.now()))])
    return changed
  })
  publishChange(deps)
  return channel
}

/** As `find` of the cache; 404 `resource_missing`, which says what was probably meant, where there is none. */
export async function getChannel({ cache, platform }: ChannelDeps, tenant: Tenant, id: string): Promise<ChannelRow> {
  const row = await cache.find(tenant, id)
  if (row === null) throw await missingChannel(platform.pool, tenant, id)
  return row
}

async function getChangeable(deps: ChannelDeps, tenant: Tenant, id: string): Promise<ChannelRow> {
  const row = await getChannel(deps, tenant, id)
  if (isTestChannel(row))
    throw new Problem(
      'live_mode_required',
      'Sandbox channels cannot be changed. Use a key that starts with svc_live_ and a channel of your own.',
    )
  return row
}

/** After a change: this process reads the channel anew, and so do the others as soon as they hear of it. */
function publishChange({ cache, platform }: ChannelDeps): void {
  cache.forget()
  platform.notify('forget-channels', 'sessions', 'dispatch', 'fan-out')
}

function connectionEvent({ ids }: Platform, row: ChannelRow, channel: Channel, created_at: string): NewEvent {
  return {
    id: ids('evt'),
    account_id: row.account_id as Tenant['account_id'],
    mode: row.mode,
    type: row.connection_status === 'connected' ? 'channel.connected' : 'channel.disconnected',
    object_id: row.id,
    object: channel,
    created_at,
  }
}

const taken = (type: string, identifier: string) =>
  new Problem(
    'channel_identifier_taken',
    `The identifier ${identifier} is already connected to this installation, as a channel of the type ${type}. Delete that channel first where it is yours, or connect another sender.`,
    { param: 'identifier' },
  )
