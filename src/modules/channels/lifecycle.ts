/** Creates, updates, reconnects and deletes channels. Credentials are tested before any write. */
import { tenantOf, type Tenant } from '../../api/caller.ts'
import { invalid, missing, Problem, throwFailures } from '../../api/problem.ts'
import type { Channel, ChannelType, ConnectedChannel } from '../../api/resources/channel.ts'
import { isoTime, withDeadline } from '../../lib/clock.ts'
import { didNotCommit, transact, transactionId, violatedConstraint, type Db } from '../../platform/database/sql.ts'
import { recordEvents, type NewEvent } from '../../platform/events/outbox.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import type { Platform } from '../../platform/platform.ts'
import { withPhoneHint } from '../accounts/service.ts'
import type { ProviderAdapter, Connection, Provider, TemplateRecord } from '../../providers/provider.ts'
import type { Adapters } from './adapters.ts'
import { type ChannelCache, missingChannel } from './lookup.ts'
import { withRate, wrongCredentials, wrongSender, wrongSettings } from './validation.ts'
import { chooseProvider, generatedCredentials, testCredentials } from './credentials.ts'
import { channelObject, webhookUrl, type ChannelRow } from './channel.ts'
import { isSessionOpen } from './sessions/repository.ts'
import * as store from './repository.ts'
import { initialTemplates, storeInitialTemplates } from './templates/templates.ts'
import { isTestChannel } from './test-channels.ts'

const unregisterTimeoutMs = 5_000

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

type NewChannel = Parameters<typeof store.insertChannel>[1]

export interface ChannelUpdate {
  readonly name?: string
  readonly status?: 'active' | 'disabled'
  readonly settings?: Record<string, unknown>
  /** A `verify_token` that is left out stays. */
  readonly credentials?: Record<string, unknown>
}

/**
 * Nothing is created if the provider refuses or cannot be reached. A generated `verify_token` is shown only here
 * (behaviour: channels 2.4, 2.5).
 */
export async function createChannel(
  deps: ChannelDeps,
  sql: Db,
  tenant: Tenant,
  creation: ChannelCreation,
  keep: StoreAnswer<ConnectedChannel>,
): Promise<ConnectedChannel> {
  const { platform, adapters } = deps
  const { clock, ids, settings } = platform
  const { provider, type } = chooseProvider(creation, (type) => adapters.connectable(type, settings.simulator))
  await refuseWrong(platform, tenant, provider, type, creation)
  const free = async (identifier: string) => {
    if ((await store.findHolder(sql, type, identifier)) !== null) throw identifierTaken(type, identifier)
  }
  if (creation.identifier !== undefined) await free(creation.identifier)
  const generated = generatedCredentials(provider, creation.credentials)
  const channel_id = ids('ch')
  const connection: Connection = {
    channel_id,
    type,
    identifier: creation.identifier ?? '',
    credentials: { ...creation.credentials, ...generated },
    settings: withRate(type, creation.settings ?? {}),
    webhook_url: webhookUrl(settings.base_url, channel_id),
  }
  const adapter = adapters.adapterOf(provider.name)!
  const undo = (registration: Connection) =>
    undoRegistration(
      deps,
      sql,
      { id: channel_id, type, identifier: registration.identifier, provider: provider.name },
      () => registration,
    )
  const identifier = await testCredentials({ clock, provider, adapter, undo }, connection, free)
  const registered: Connection = { ...connection, identifier }
  const row = newChannel(platform, tenant, provider, registered, creation.name)
  let transaction: string | undefined
  let created: ConnectedChannel
  try {
    const templates = await initialTemplates(deps, provider.name, registered)
    created = await transact(sql, async (tx) => {
      transaction = await transactionId(tx)
      const connected = { ...(await insertConnected(platform, tx, row, templates)), ...generated }
      await keep(tx, connected)
      return connected
    })
  } catch (error) {
    // after a commit without an answer the channel may exist
    if (transaction === undefined || (await didNotCommit(sql, transaction))) await undo(registered)
    else
      platform.log.warn(
        { channel_id },
        'it is unknown whether a channel was created; its registration at the provider stays',
      )
    throw error
  }
  platform.notify('sessions')
  return created
}

const newChannel = (
  { clock, secrets }: Platform,
  tenant: Tenant,
  provider: Provider,
  connection: Connection,
  name: string,
): NewChannel => ({
  account_id: tenant.account_id,
  mode: 'live',
  id: connection.channel_id,
  type: connection.type,
  provider: provider.name,
  name,
  identifier: connection.identifier,
  status: 'active',
  connection_status: 'connected',
  capabilities: provider.capabilities(connection.type, connection.settings),
  settings: connection.settings,
  credentials: secrets.seal(JSON.stringify(connection.credentials)),
  created_at: isoTime(clock.now()),
})

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
  if (wrong.length > 0) throwFailures(await withPhoneHint(pool, tenant, wrong, 'identifier', creation.identifier))
}

async function insertConnected(
  platform: Platform,
  tx: Db,
  channel: NewChannel,
  templates: readonly TemplateRecord[] | null,
): Promise<Channel> {
  const row = await store.insertChannel(tx, channel).catch((error: unknown) => {
    throw violatedConstraint(error) === 'channels_identifier'
      ? identifierTaken(channel.type, channel.identifier)
      : error
  })
  if (templates !== null) await storeInitialTemplates(tx, platform, row, templates)
  const created = channelObject(row, platform.settings.base_url)
  await recordEvents(tx, [connectionEvent(platform, row, created, row.created_at)])
  return created
}

/**
 * New credentials connect the channel (behaviour: channels 3.4). Problems: parameter_invalid, upstream_rejected,
 * upstream_unavailable, channel_not_connected, resource_missing.
 */
export async function updateChannel(
  deps: ChannelDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  change: ChannelUpdate,
): Promise<Channel> {
  const { platform } = deps
  const { credentials: newCredentials, ...plain } = change
  const row = await getChangeable(deps, tenant, id)
  const provider = deps.adapters.providerOf(row.provider)
  refuseWrongChange(platform, row, provider, change)
  const rate = change.settings === undefined ? undefined : withRate(row.type, change.settings)
  const credentials =
    newCredentials === undefined
      ? undefined
      : await renewCredentials(deps, sql, { ...row, settings: rate ?? row.settings }, newCredentials)
  const changed = await transact(sql, async (tx) => {
    const written = await store.updateChannel(tx, tenant, id, {
      ...plain,
      ...(rate === undefined
        ? {}
        : { settings: rate, capabilities: provider?.capabilities(row.type, rate) ?? row.capabilities }),
      ...(credentials === undefined ? {} : { credentials, connection_tested_at: isoTime(platform.clock.now()) }),
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

async function renewCredentials(
  deps: ChannelDeps,
  sql: Db,
  row: ChannelRow,
  replacement: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { clock, secrets, settings } = deps.platform
  const { provider, adapter } = getConnectable(deps, row)
  const credentials = { ...existingVerifyToken(deps.cache, provider, row), ...replacement }
  const { id: channel_id, type, identifier } = row
  const connection = {
    channel_id,
    type,
    identifier,
    credentials,
    settings: row.settings,
    webhook_url: webhookUrl(settings.base_url, channel_id),
  }
  // if the provider allows no second session, the open one with the same login is ours
  const has_session =
    adapter.needsSession?.(connection) === true &&
    isSameLogin(deps, provider, row, credentials) &&
    (await hasOpenSession(deps, sql, tenantOf(row), row.id))
  await testCredentials({ clock, provider, adapter, otherSender, has_session }, connection, async () => undefined)
  return secrets.seal(JSON.stringify(credentials))
}

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
    return false // cannot be decrypted
  }
}

const otherSender = ({ title }: Provider, reported: string): Problem =>
  invalid(
    'credentials',
    'invalid_value',
    `${title} reports that these credentials belong to ${reported}, and a channel keeps its sender. Give credentials of its own sender, or connect a channel for ${reported}.`,
  )

const senderLost = ({ title }: Provider, reported: string): Problem =>
  new Problem(
    'upstream_rejected',
    `${title} reports that the credentials of this channel now belong to ${reported}, and a channel keeps its sender. ` +
      `Give credentials of its own sender with PATCH /v1/channels/{id}, or connect a channel for ${reported}.`,
  )

function existingVerifyToken(cache: ChannelCache, provider: Provider, row: ChannelRow): { verify_token?: string } {
  if (!('verify_token' in provider.credentials.properties)) return {}
  try {
    const { verify_token } = cache.connection(row).credentials
    return typeof verify_token === 'string' ? { verify_token } : {}
  } catch {
    return {}
  }
}

/** `channel_not_connected` if the provider no longer exists. */
function getConnectable({ adapters }: ChannelDeps, row: ChannelRow): { provider: Provider; adapter: ProviderAdapter } {
  const [provider, adapter] = [adapters.providerOf(row.provider), adapters.adapterOf(row.provider)]
  if (provider === undefined || adapter === undefined)
    throw new Problem('channel_not_connected', `The provider ${row.provider} of this channel is no longer supported.`)
  return { provider, adapter }
}

/** Publishes `channel_deleted` in the same transaction; then removes the registration at the provider. */
export async function removeChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<void> {
  const row = await getChangeable(deps, tenant, id)
  await transact(sql, async (tx) => {
    if (!(await store.deleteChannel(tx, tenant, id, isoTime(deps.platform.clock.now())))) throw missing('channel', id)
    await deps.platform.domain_events.publish(tx, 'channel_deleted', [
      { account_id: tenant.account_id, mode: tenant.mode, channel_id: id },
    ])
  })
  publishChange(deps)
  await undoRegistration(deps, sql, row, () => deps.cache.connection(row))
}

/**
 * A failure is only logged. If another channel has the sender by now, it is registered again, since this may have
 * removed its registration. Never rejects.
 */
async function undoRegistration(
  deps: ChannelDeps,
  sql: Db,
  removed: Pick<ChannelRow, 'id' | 'type' | 'identifier' | 'provider'>,
  connection: () => Connection,
): Promise<void> {
  const { platform, adapters } = deps
  const { id, provider } = removed
  const adapter = adapters.adapterOf(provider)
  if (adapter?.disconnect === undefined) return
  try {
    await withDeadline(
      platform.clock,
      unregisterTimeoutMs,
      async (signal) => await adapter.disconnect!(connection(), signal),
    )
  } catch (error) {
    platform.log.warn(
      { err: error, channel_id: id },
      'the registration of a deleted channel could not be removed at its provider; remove its webhook there',
    )
  }
  await registerNewHolder(deps, sql, adapter, removed)
}

/** Never rejects. */
async function registerNewHolder(
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
      unregisterTimeoutMs,
      async (signal) => await adapter.register?.(connection, signal),
    )
    if (answer !== undefined && answer.kind !== 'connected') throw new Error(answer.message)
  } catch (error) {
    platform.log.warn(
      { err: error, channel_id: holder?.id ?? id },
      'a channel may get no more callbacks; POST /v1/channels/{id}/reconnect registers it again',
    )
  }
}

/** Messages waiting for the provider continue at once (behaviour: channels 4.3). */
export async function reconnectChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<Channel> {
  const channel = await retryConnection(deps, sql, tenant, id)
  await store.markConnectionTested(sql, tenant, id, isoTime(deps.platform.clock.now()))
  publishChange(deps)
  return channel
}

/**
 * Tests the credentials even of a connected channel. If the provider refuses them, it becomes disconnected, unless its
 * session is open. Other failures change nothing (behaviour: channels 4.3, 4.4).
 */
export async function retryConnection(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<Channel> {
  const row = await getChangeable(deps, tenant, id)
  const { provider, adapter } = getConnectable(deps, row)
  const { clock } = deps.platform
  const connection = deps.cache.connection(row)
  const has_session = adapter.needsSession?.(connection) === true && (await hasOpenSession(deps, sql, tenant, id))
  const refused = async () => {
    if (has_session) return 'the open session continues'
    if (row.connection_status === 'connected') await setConnection(deps, sql, row, 'disconnected')
    return 'until then the channel is disconnected'
  }
  await testCredentials(
    { clock, provider, adapter, otherSender: senderLost, has_session, refused },
    connection,
    async () => undefined,
  )
  return await setConnection(deps, sql, row, 'connected')
}

async function hasOpenSession({ platform }: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<boolean> {
  const row = await store.findChannel(sql, tenant, id)
  return row?.connection_status === 'connected' && (await isSessionOpen(sql, id, isoTime(platform.clock.now())))
}

/** Writes the event too; nothing if the status is unchanged. */
export async function setConnection(
  deps: ChannelDeps,
  sql: Db,
  row: ChannelRow,
  connection_status: 'connected' | 'disconnected',
): Promise<Channel> {
  const { platform } = deps
  const tenant = tenantOf(row)
  const channel = await transact(sql, async (tx) => {
    const written = await store.updateConnectionStatus(tx, tenant, row.id, connection_status)
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

/** In all processes; also wakes the workers that depend on channels. */
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

const identifierTaken = (type: string, identifier: string) =>
  new Problem(
    'channel_identifier_taken',
    `The identifier ${identifier} is already connected to this installation, as a channel of the type ${type}. Delete that channel first if it is yours, or connect another sender.`,
    { param: 'identifier' },
  )
