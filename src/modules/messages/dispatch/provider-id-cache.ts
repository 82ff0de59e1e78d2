/** Recently sent messages by provider id, so early receipts need not read the database. */
import type { MessageRow } from '../message.ts'

export interface ProviderIdCache {
  remember(channel_id: string, provider_id: string, row: MessageRow): void
  /** Removes and returns the row, which may be stale. */
  take(channel_id: string, provider_id: string): MessageRow | undefined
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
