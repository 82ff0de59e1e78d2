/** Finds channels: caches them for seconds with decrypted credentials. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { limits } from '../../api/limits.ts'
import { lookupCache } from '../../lib/lookup-cache.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Connection } from '../../providers/provider.ts'
import { webhookUrl, type ChannelRow } from './channel.ts'
import * as store from './repository.ts'
import { listIdsOfType } from './repository.ts'
import { findTestChannel } from './test-channels.ts'
import { missing, Problem } from '../../api/problem.ts'
import { channelTypes, type ChannelType } from '../../api/resources/channel.ts'

export interface ChannelCache {
  /** null if there is none. Cached for at most `limits.cache_ms`. */
  find(tenant: Tenant, id: string): Promise<ChannelRow | null>
  /** A cache miss is read on the transaction's own connection: waiting for another one could deadlock. */
  findIn(tx: Db, tenant: Tenant, id: string): Promise<ChannelRow | null>
  forget(): void
  onForget(listener: () => void): void
  /** Decrypted once per row object, because decrypting costs more than sending. */
  connection(row: ChannelRow): Connection
}

const cachedChannelsMax = 10_000

const keyOf = ({ account_id }: Tenant, id: string): string => `${account_id}|${id}`

export function channelCache({ pool, clock, secrets, settings }: Platform): ChannelCache {
  const cache = lookupCache<ChannelRow | null>(clock, { entries_max: cachedChannelsMax, age_max_ms: limits.cache_ms })
  const opened = new WeakMap<ChannelRow, Connection>()
  const listeners: (() => void)[] = []
  return {
    async find(tenant, id) {
      if (tenant.mode === 'test') return findTestChannel(tenant, id)
      if (!isId('ch', id)) return null
      const key = keyOf(tenant, id)
      const known = cache.get(key)
      return known === undefined ? await cache.read(key, () => store.findChannel(pool, tenant, id)) : await known
    },
    async findIn(tx, tenant, id) {
      if (tenant.mode === 'test') return findTestChannel(tenant, id)
      if (!isId('ch', id)) return null
      const known = cache.get(keyOf(tenant, id))
      // a pending lookup waits for a connection of the pool
      return known === undefined || known instanceof Promise ? await store.findChannel(tx, tenant, id) : known
    },
    forget() {
      cache.forget()
      for (const listener of listeners) listener()
    },
    onForget: (listener) => void listeners.push(listener),
    connection(row) {
      const known = opened.get(row)
      if (known !== undefined) return known
      const credentials =
        row.credentials === '' ? {} : (JSON.parse(secrets.open(row.credentials)) as Record<string, unknown>)
      const made: Connection = {
        channel_id: row.id,
        type: row.type,
        identifier: row.identifier,
        settings: row.settings,
        credentials,
        webhook_url: webhookUrl(settings.base_url, row.id),
      }
      opened.set(row, made)
      return made
    },
  }
}

const namedMax = 5

/** Suggests what was probably meant: a channel type, or the other mode (behaviour: conventions 2.3). */
export async function missingChannel(sql: Db, tenant: Tenant, id: string, param?: string): Promise<Problem> {
  const plain = missing('channel', id, param)
  const type = channelTypes.find((known) => known === id.toLowerCase())
  const hint = type === undefined ? otherMode(tenant, id) : await ofType(sql, tenant, type)
  return hint === undefined ? plain : new Problem(plain.code, `${plain.message} ${hint}`, { param: plain.param })
}

function otherMode({ mode }: Tenant, id: string): string | undefined {
  const isSandbox = id.startsWith('ch_test_')
  if (mode === 'live' && isSandbox)
    return 'It has the form of a sandbox channel, which test keys (`svc_test_…`) alone can use; this request came with a live key.'
  if (mode === 'test' && !isSandbox && isId('ch', id))
    return 'It has the form of a channel of live mode; this request came with a test key, whose channels are `ch_test_<type>`, such as `ch_test_sms`.'
  return undefined
}

async function ofType(sql: Db, tenant: Tenant, type: ChannelType): Promise<string> {
  const ids = tenant.mode === 'test' ? [`ch_test_${type}`] : await listIdsOfType(sql, tenant, type, namedMax + 1)
  if (ids.length === 0)
    return `That is a type, and the account has no channel of it yet: connect one with POST /v1/channels.`
  const more = ids.length > namedMax ? ', and more that GET /v1/channels lists' : ''
  return `That is a type; the id of a channel is needed. Of this type there ${ids.length === 1 ? 'is' : 'are'} ${ids.slice(0, namedMax).join(', ')}${more}.`
}
