/** Channels held in memory for seconds, with their credentials opened. */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { limits } from '../../api/limits.ts'
import { lookupCache } from '../../lib/lookup-cache.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Connection } from '../../providers/provider.ts'
import { webhookUrl } from './present.ts'
import * as store from './store.ts'
import type { ChannelRow } from './store.ts'
import { findTestChannel } from './test-channels.ts'

export interface ChannelCache {
  /** The channel, or null where this tenant has none of the id. Served from memory for at most `limits.cache_ms`. */
  find(tenant: Tenant, id: string): Promise<ChannelRow | null>
  /** As `find`, for an open transaction: what memory does not hold is read on its own connection, for waiting for another one may never end. */
  findIn(tx: Db, tenant: Tenant, id: string): Promise<ChannelRow | null>
  /** Forgets everything: at a change, and whenever one may have been missed. */
  forget(): void
  /** Tells those who keep what they know of channels when to forget it too. */
  onForget(listener: () => void): void
  /** What an adapter is given of the channel. Opened once for each row read: rows live as long as the cache, and opening them costs more than sending. */
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
      // a look-up under way waits for a connection of the pool
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
