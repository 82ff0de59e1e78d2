/** How channels are connected, changed and deleted: a link is tried before anything is written, and processes hear of a change at once. */
import type { Caller, Tenant } from '../../contract/caller.ts'
import { missing, Problem } from '../../contract/problem.ts'
import type { Channel } from '../../contract/resources/channel.ts'
import { validator } from '../../contract/validation.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, violatedConstraint, type Db } from '../../platform/database/sql.ts'
import { recordEvents, type NewEvent } from '../../platform/outbox.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Adapters } from './adapters.ts'
import type { ChannelCache } from './channel-cache.ts'
import { withRate, wrongIdentifier, wrongOwnSettings, wrongSettings } from './channel-input.ts'
import { chooseProvider, tryConnection } from './connecting.ts'
import { channelObject, webhookUrl } from './present.ts'
import * as store from './store.ts'
import type { ChannelRow } from './store.ts'

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

export interface ChannelUpdate {
  readonly name?: string
  readonly status?: 'active' | 'disabled'
  /** Replaced whole. */
  readonly settings?: Record<string, unknown>
}

/** Connects a channel: the credentials are tried at once, and nothing is created where the provider refuses or cannot be reached (behaviour: channels 2.4). */
export async function createChannel({ platform, adapters }: ChannelDeps, sql: Db, caller: Caller, creation: ChannelCreation): Promise<Channel> {
  const { clock, ids, secrets, settings } = platform
  const { provider, type } = chooseProvider(creation, (type) => adapters.connectable(type, settings.simulator))
  const failures = [
    ...wrongIdentifier(type, creation.identifier),
    ...validator(provider.credentials)(creation.credentials, 'credentials'),
    ...wrongSettings(creation.settings),
    ...wrongOwnSettings(provider, creation.settings),
  ]
  const wrong =
    failures.length > 0 ? failures : (provider.check?.({ type, credentials: creation.credentials, allowed_hosts: settings.webhook_allowed_hosts }) ?? [])
  if (wrong[0] !== undefined) throw Problem.invalid([wrong[0], ...wrong.slice(1)])
  const rate = withRate(type, creation.settings ?? {})
  const id = ids('ch')
  if (creation.identifier !== undefined && (await store.identifierTaken(sql, type, creation.identifier))) throw taken(type, creation.identifier)
  const { identifier, credentials: made } = await tryConnection(clock, adapters.adapterOf(provider.name)!, {
    channel_id: id,
    type,
    identifier: creation.identifier ?? '',
    credentials: creation.credentials,
    settings: rate,
    webhook_url: webhookUrl(settings.base_url, id),
  })
  const created_at = isoTime(clock.now())
  return await transact(sql, async (tx) => {
    const row = await store
      .insertChannel(tx, {
        account_id: caller.account_id,
        mode: 'live',
        id,
        type,
        provider: provider.name,
        name: creation.name,
        identifier,
        status: 'active',
        connection_status: 'connected',
        capabilities: provider.capabilities(type, rate),
        settings: rate,
        credentials: secrets.seal(JSON.stringify({ ...creation.credentials, ...made })),
        created_at,
      })
      .catch((error: unknown) => {
        throw violatedConstraint(error) === 'channels_identifier' ? taken(type, identifier) : error
      })
    const channel = channelObject(row, settings.base_url)
    await recordEvents(tx, [connectionEvent(platform, row, channel, created_at)])
    return channel
  })
}

export async function updateChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string, change: ChannelUpdate): Promise<Channel> {
  const row = await getChangeable(deps, tenant, id)
  const provider = deps.adapters.providerOf(row.provider)
  const [failure, ...more] = [...wrongSettings(change.settings), ...(provider === undefined ? [] : wrongOwnSettings(provider, change.settings))]
  if (failure !== undefined) throw Problem.invalid([failure, ...more])
  const rate = change.settings === undefined ? undefined : withRate(row.type, change.settings)
  const changed = await store.updateChannel(sql, tenant, id, {
    ...change,
    ...(rate === undefined ? {} : { settings: rate, capabilities: provider?.capabilities(row.type, rate) ?? row.capabilities }),
  })
  publishChange(deps)
  if (changed === null) throw missing('channel', id)
  return channelObject(changed, deps.platform.settings.base_url)
}

/** Deletes a channel: sends are 404 from now on; the fact `channel_deleted` is published in the same transaction. */
export async function removeChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<void> {
  await getChangeable(deps, tenant, id)
  await transact(sql, async (tx) => {
    if (!(await store.deleteChannel(tx, tenant, id, isoTime(deps.platform.clock.now())))) throw missing('channel', id)
    await deps.platform.reactions.publish(tx, 'channel_deleted', [{ account_id: tenant.account_id, mode: tenant.mode, channel_id: id }])
  })
  publishChange(deps)
}

/** Tries the channel's link again; answers the channel once it is connected. */
export async function reconnectChannel(deps: ChannelDeps, sql: Db, tenant: Tenant, id: string): Promise<Channel> {
  const row = await getChangeable(deps, tenant, id)
  const adapter = deps.adapters.adapterOf(row.provider)
  if (adapter === undefined) throw new Problem('channel_not_connected', `The provider ${row.provider} of this channel is not part of this service any more.`)
  await tryConnection(deps.platform.clock, adapter, deps.cache.connection(row))
  return await setConnection(deps, sql, row, 'connected')
}

/** Writes a changed link and its event; an unchanged one writes nothing. */
export async function setConnection(deps: ChannelDeps, sql: Db, row: ChannelRow, connection_status: 'connected' | 'disconnected'): Promise<Channel> {
  const { platform } = deps
  const tenant = { account_id: row.account_id as Tenant['account_id'], mode: row.mode }
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

/** As `find` of the cache; 404 `resource_missing` where there is none. */
export async function getChannel(cache: ChannelCache, tenant: Tenant, id: string): Promise<ChannelRow> {
  const row = await cache.find(tenant, id)
  if (row === null) throw missing('channel', id)
  return row
}

async function getChangeable(deps: ChannelDeps, tenant: Tenant, id: string): Promise<ChannelRow> {
  const row = await getChannel(deps.cache, tenant, id)
  if (row.provider === 'sandbox')
    throw new Problem('live_mode_required', 'Sandbox channels cannot be changed. Use a key that starts with svc_live_ and a channel of your own.')
  return row
}

/** After a change: this process reads the channel anew, and so do the others as soon as they hear of it. */
function publishChange({ cache, platform }: ChannelDeps): void {
  cache.forget()
  platform.notify('forget-channels', 'dispatch', 'fan-out')
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
    `A ${type} channel with the identifier ${identifier} is already connected. Delete it first, or connect another sender.`,
    { param: 'identifier' },
  )
