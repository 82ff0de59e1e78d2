/** What channels mean: the sandbox ones that always stand, the connected ones, their templates and their link to the provider. */
import type { Caller, Tenant } from '../../contract/caller.ts'
import { isId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import { invalid, missing, Problem } from '../../contract/problem.ts'
import { channelTypes, type Channel, type ChannelType, type Template } from '../../contract/resources/channel.ts'
import { isoTime, withDeadline, type Clock } from '../../lib/clock.ts'
import { validator } from '../../contract/validation.ts'
import { requireCursor, wrongCursor, type Page } from '../../platform/http/paging.ts'
import { recordEvents } from '../../platform/outbox.ts'
import type { Platform } from '../../platform/platform.ts'
import { transact, violatedConstraint, type Db } from '../../platform/database/sql.ts'
import type { Adapter, Connection } from './adapter.ts'
import { sandboxTemplates } from './providers/sandbox.ts'
import { providerRegistry } from './registry.ts'
import { wrongIdentifier, wrongSettings } from './channel-input.ts'
import * as store from './store.ts'
import type { ChannelRow } from './store.ts'

export type { ChannelRow } from './store.ts'

const standingSince = '2026-01-01T00:00:00.000Z'
const sandboxIdentifiers: Readonly<Record<ChannelType, string>> = { whatsapp: '+15005550000', sms: '+15005550099', telegram: 'posthorn_sandbox_bot' }
const sandboxNames: Readonly<Record<ChannelType, string>> = { whatsapp: 'Sandbox WhatsApp', sms: 'Sandbox SMS', telegram: 'Sandbox Telegram' }
const defaultRate: Readonly<Record<ChannelType, number>> = { whatsapp: 80, sms: 30, telegram: 30 }
const connectTimeoutMs = 20_000
const cachedChannelsMax = 10_000

export interface ChannelCreation {
  type: string
  provider?: string
  name: string
  identifier?: string
  credentials: Record<string, unknown>
  settings?: Record<string, unknown>
}

export type ChannelService = ReturnType<typeof channelService>

/** Whether messages may go out on a channel: it is active, and linked to its provider. */
export const isUp = ({ status, connection_status }: Pick<ChannelRow, 'status' | 'connection_status'>): boolean =>
  status === 'active' && connection_status === 'connected'

export function channelService(platform: Platform) {
  const { pool, clock, ids, secrets, settings } = platform
  const { adapterOf, connectable } = providerRegistry(clock)
  const cache = new Map<string, { row: ChannelRow | null; until: number }>()
  // what was read before a change must not be remembered after it
  let changes = 0

  const sandboxRow = (tenant: Tenant, type: ChannelType): ChannelRow => ({
    account_id: tenant.account_id,
    mode: 'test',
    id: `ch_test_${type}`,
    type,
    provider: 'sandbox',
    name: sandboxNames[type],
    identifier: sandboxIdentifiers[type],
    status: 'active',
    connection_status: 'connected',
    capabilities: adapterOf('sandbox')!.capabilities(type, {}),
    settings: {},
    credentials: '',
    deleted_at: null,
    created_at: standingSince,
  })

  /** The channel, or null where this tenant has none of the id. Served from memory for at most 4 seconds. */
  async function find(tenant: Tenant, id: string): Promise<ChannelRow | null> {
    if (tenant.mode === 'test') {
      const type = channelTypes.find((candidate) => id === `ch_test_${candidate}`)
      return type === undefined ? null : sandboxRow(tenant, type)
    }
    if (!isId('ch', id)) return null
    const key = `${tenant.account_id}|${id}`
    const known = cache.get(key)
    if (known !== undefined && known.until > clock.now()) return known.row
    const before = changes
    const row = await store.findChannel(pool, tenant, id)
    if (cache.size >= cachedChannelsMax) cache.clear()
    if (before === changes) cache.set(key, { row, until: clock.now() + limits.cache_ms })
    return row
  }

  /** The connected channel that a provider's callback names; the callback carries no tenant. */
  const findForCallback = async (id: string): Promise<ChannelRow | null> => (isId('ch', id) ? await store.findAnyChannel(pool, id) : null)

  async function get(tenant: Tenant, id: string): Promise<ChannelRow> {
    const row = await find(tenant, id)
    if (row === null) throw missing('channel', id)
    return row
  }

  /** The channel as it stands, whatever another process has changed a moment ago. */
  async function read(sql: Db, tenant: Tenant, id: string): Promise<Channel> {
    if (tenant.mode === 'test') return object(await get(tenant, id))
    const row = isId('ch', id) ? await store.findChannel(sql, tenant, id) : null
    if (row === null) throw missing('channel', id)
    return object(row)
  }

  const object = (row: ChannelRow): Channel => ({
    id: row.id,
    object: 'channel',
    mode: row.mode,
    type: row.type,
    provider: row.provider,
    name: row.name,
    identifier: row.identifier,
    status: row.status,
    connection_status: row.connection_status,
    capabilities: [...row.capabilities] as Channel['capabilities'],
    settings: row.settings,
    webhook_url: row.mode === 'live' ? `${settings.base_url}/hooks/channels/${row.id}` : null,
    created_at: row.created_at,
  })

  /** Opened once for each row read: rows live as long as the cache, and opening them costs more than sending. */
  const opened = new WeakMap<ChannelRow, Connection>()
  function connection(row: ChannelRow): Connection {
    const known = opened.get(row)
    if (known !== undefined) return known
    const credentials = row.credentials === '' ? {} : (JSON.parse(secrets.open(row.credentials)) as Record<string, unknown>)
    const made: Connection = { channel_id: row.id, identifier: row.identifier, settings: row.settings, credentials }
    opened.set(row, made)
    return made
  }

  async function list(sql: Db, tenant: Tenant, page: Page): Promise<Channel[]> {
    if (tenant.mode === 'live') {
      await requireCursor(page.starting_after, noChannelHas, async (id) => isId('ch', id) && (await store.channelExisted(sql, tenant, id)))
      return (await store.listChannels(sql, tenant, page)).map(object)
    }
    const all = channelTypes.map((type) => object(sandboxRow(tenant, type)))
    if (page.starting_after === undefined) return all.slice(0, page.limit + 1)
    const at = all.findIndex((channel) => channel.id === page.starting_after)
    if (at === -1) throw wrongCursor(noChannelHas)
    return all.slice(at + 1, at + 2 + page.limit)
  }

  async function templates(tenant: Tenant, id: string): Promise<Template[]> {
    const row = await get(tenant, id)
    if (row.type !== 'whatsapp') return []
    const records =
      row.provider === 'sandbox'
        ? sandboxTemplates
        : ((await withDeadline(clock, connectTimeoutMs, async (signal) => await adapterOf(row.provider)?.templates?.(connection(row), signal))) ?? [])
    return records.map((record) => ({
      id: `tpl_${row.provider === 'sandbox' ? 'test_' : ''}${record.provider_id}`,
      object: 'template',
      channel_id: row.id,
      name: record.name,
      language: record.language,
      category: record.category,
      status: record.status,
      parameter_format: record.parameter_format,
      components: record.components.map((component) => ({ ...component })),
      rejected_reason: record.rejected_reason,
      updated_at: record.updated_at,
    }))
  }

  /** After a change: this process reads the channel anew, and so do the others as soon as they hear of it. */
  function tellChange(): void {
    forget()
    platform.notify('forget-channels', 'dispatch', 'fan-out')
  }

  function forget(): void {
    changes += 1
    cache.clear()
  }

  /** Connects a channel: the credentials are tried at once, and nothing is created where the provider refuses or cannot be reached (behaviour: channels 2.4). */
  async function create(sql: Db, caller: Caller, creation: ChannelCreation): Promise<Channel> {
    const { adapter, type } = chooseAdapter(creation, (type) => connectable(type, settings.simulator))
    const failures = [
      ...wrongIdentifier(type, creation.identifier),
      ...validator(adapter.credentials)(creation.credentials, 'credentials'),
      ...wrongSettings(creation.settings),
    ]
    if (failures[0] !== undefined) throw Problem.invalid([failures[0], ...failures.slice(1)])
    const rate = withRate(type, creation.settings ?? {})
    const id = ids('ch')
    if (creation.identifier !== undefined && (await store.identifierTaken(sql, type, creation.identifier))) throw taken(type, creation.identifier)
    const identifier = await tryConnection(clock, adapter, {
      channel_id: id,
      identifier: creation.identifier ?? '',
      credentials: creation.credentials,
      settings: rate,
    })
    const created_at = isoTime(clock.now())
    return await transact(sql, async (tx) => {
      const row = await store
        .insertChannel(tx, {
          account_id: caller.account_id,
          mode: 'live',
          id,
          type,
          provider: adapter.provider,
          name: creation.name,
          identifier,
          status: 'active',
          connection_status: 'connected',
          capabilities: adapter.capabilities(type, rate),
          settings: rate,
          credentials: secrets.seal(JSON.stringify(creation.credentials)),
          created_at,
        })
        .catch((error: unknown) => {
          throw violatedConstraint(error) === 'channels_identifier' ? taken(type, identifier) : error
        })
      const channel = object(row)
      await recordEvents(tx, [
        {
          id: ids('evt'),
          account_id: row.account_id as Tenant['account_id'],
          mode: row.mode,
          type: 'channel.connected',
          object_id: row.id,
          object: channel,
          created_at,
        },
      ])
      return channel
    })
  }

  async function update(
    sql: Db,
    tenant: Tenant,
    id: string,
    change: { name?: string; status?: 'active' | 'disabled'; settings?: Record<string, unknown> },
  ): Promise<Channel> {
    const row = await getChangeable(tenant, id)
    const [failure, ...more] = wrongSettings(change.settings)
    if (failure !== undefined) throw Problem.invalid([failure, ...more])
    const rate = change.settings === undefined ? undefined : withRate(row.type, change.settings)
    const changed = await store.updateChannel(sql, tenant, id, {
      ...change,
      ...(rate === undefined ? {} : { settings: rate, capabilities: adapterOf(row.provider)?.capabilities(row.type, rate) ?? row.capabilities }),
    })
    tellChange()
    if (changed === null) throw missing('channel', id)
    return object(changed)
  }

  /** Deletes a channel: sends are 404 from now on; those who follow it are told in the same transaction. */
  async function remove(sql: Db, tenant: Tenant, id: string): Promise<void> {
    await getChangeable(tenant, id)
    await transact(sql, async (tx) => {
      if (!(await store.deleteChannel(tx, tenant, id, isoTime(clock.now())))) throw missing('channel', id)
      await platform.reactions.publish(tx, 'channel_deleted', [{ account_id: tenant.account_id, mode: tenant.mode, channel_id: id }])
    })
    tellChange()
  }

  /** Tries the channel's link again; answers the channel once it is connected. */
  async function reconnect(sql: Db, tenant: Tenant, id: string): Promise<Channel> {
    const row = await getChangeable(tenant, id)
    const adapter = adapterOf(row.provider)
    if (adapter === undefined) throw new Problem('channel_not_connected', `The provider ${row.provider} of this channel is not part of this service any more.`)
    await tryConnection(clock, adapter, connection(row))
    return await setConnection(sql, row, 'connected')
  }

  /** Writes a changed link and its event; an unchanged one writes nothing. */
  async function setConnection(sql: Db, row: ChannelRow, connection_status: 'connected' | 'disconnected'): Promise<Channel> {
    const tenant = { account_id: row.account_id as Tenant['account_id'], mode: row.mode }
    const channel = await transact(sql, async (tx) => {
      const written = await store.changeConnection(tx, tenant, row.id, connection_status)
      if (written === null) {
        const unchanged = await store.findChannel(tx, tenant, row.id)
        if (unchanged === null) throw missing('channel', row.id)
        return object(unchanged)
      }
      const changed = object(written)
      await recordEvents(tx, [
        {
          id: ids('evt'),
          ...tenant,
          type: connection_status === 'connected' ? 'channel.connected' : 'channel.disconnected',
          object_id: row.id,
          object: changed,
          created_at: isoTime(clock.now()),
        },
      ])
      return changed
    })
    tellChange()
    return channel
  }

  async function getChangeable(tenant: Tenant, id: string): Promise<ChannelRow> {
    const row = await get(tenant, id)
    if (row.provider === 'sandbox')
      throw new Problem('live_mode_required', 'Sandbox channels cannot be changed. Use a key that starts with svc_live_ and a channel of your own.')
    return row
  }

  /** Whether a message is marketing, which its recipient may have stopped while everything else passes (behaviour: consent 2.3). */
  const isMarketing = (row: ChannelRow, type: string, content: unknown): boolean =>
    type === 'template' && adapterOf(row.provider)?.isMarketing?.((content as { name: string }).name) === true

  /** Messages a second that may be handed over on this channel; null: as many as come. */
  const rateOf = (row: ChannelRow): number | null => {
    if (row.provider === 'sandbox') return null
    const set = row.settings['max_messages_per_second']
    return typeof set === 'number' ? set : defaultRate[row.type]
  }

  return {
    find,
    forget,
    findForCallback,
    get,
    read,
    list,
    connection,
    templates,
    create,
    update,
    remove,
    reconnect,
    setConnection,
    rateOf,
    isMarketing,
    adapterOf: (row: ChannelRow) => adapterOf(row.provider),
  }
}

const noChannelHas = 'No channel has the id'
const taken = (type: string, identifier: string) =>
  new Problem(
    'channel_identifier_taken',
    `A ${type} channel with the identifier ${identifier} is already connected. Delete it first, or connect another sender.`,
    { param: 'identifier' },
  )

function chooseAdapter(creation: ChannelCreation, connectable: (type: ChannelType) => readonly Adapter[]): { adapter: Adapter; type: ChannelType } {
  const type = channelTypes.find((candidate) => candidate === creation.type)
  if (type === undefined)
    throw invalid(
      'type',
      'invalid_value',
      `The channel type ${JSON.stringify(creation.type.slice(0, 40))} is not built. Use one of ${channelTypes.join(', ')}.`,
    )
  const choices = connectable(type)
  const adapter = creation.provider === undefined && choices.length === 1 ? choices[0] : choices.find((candidate) => candidate.provider === creation.provider)
  if (adapter !== undefined) return { adapter, type }
  const offered =
    choices.length === 0
      ? 'This installation has no provider for it yet; send with a test key on the sandbox channel instead.'
      : `Use one of ${choices.map((choice) => choice.provider).join(', ')}.`
  throw invalid('provider', creation.provider === undefined ? 'missing_field' : 'invalid_value', `Name a provider that carries ${type}. ${offered}`)
}

const withRate = (type: ChannelType, given: Record<string, unknown>): Record<string, unknown> => ({
  ...given,
  max_messages_per_second: given['max_messages_per_second'] ?? defaultRate[type],
})

async function tryConnection(clock: Clock, adapter: Adapter, connection: Connection): Promise<string> {
  const answer = (await withDeadline(clock, connectTimeoutMs, async (signal) => await adapter.connect?.(connection, signal))) ?? { kind: 'connected' as const }
  if (answer.kind === 'refused') throw new Problem('upstream_rejected', `The provider refused the credentials: ${answer.message}`)
  if (answer.kind === 'unavailable')
    throw new Problem('upstream_unavailable', `The provider could not be reached, so nothing was changed: ${answer.message} Try again with backoff.`)
  const told = answer.kind === 'connected' ? answer.identifier : undefined
  const identifier = connection.identifier === '' ? told : connection.identifier
  if (identifier === undefined) throw invalid('identifier', 'missing_field', 'Give the identifier of the sender; this provider does not tell it.')
  return identifier
}
