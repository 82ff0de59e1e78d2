/**
 * Messages that were just sent, by provider id: early receipts find their message here without reading the database.
 */
import type { MessageRow } from '../message.ts'

export interface ProviderIdCache {
  remember(channel_id: string, provider_id: string, row: MessageRow): void
  /** The row as it was written then, which may be stale. Removes it. */
  take(channel_id: string, provider_id: string): MessageRow | undefined
  /** Like `take`, without removing it. */
  find(channel_id: string, provider_id: string): MessageRow | undefined
}

const rowsMax = 10_000

export function providerIdCache(): ProviderIdCache {
  const rows = new Map<string, MessageRow>()
  return {
    remember(channel_id, provider_id, row) {
      if (rows.size >= rowsMax) rows.delete(rows.keys().next().value!)
      rows.set(`${channel_id} ${provider_id}`, row)
    },
    take(channel_id, provider_id) {
      const key = `${channel_id} ${provider_id}`
      const row = rows.get(key)
      if (row !== undefined) rows.delete(key)
      return row
    },
    find: (channel_id, provider_id) => rows.get(`${channel_id} ${provider_id}`),
  }
}
