/** What this process has just handed over, by the provider's id: a receipt that comes soon finds its message here, without asking the database twice. */
import type { MessageRow } from '../message.ts'

export interface ProviderIdCache {
  remember(channel_id: string, provider_id: string, row: MessageRow): void
  /** The row as it was written then, which may be stale; once. */
  take(channel_id: string, provider_id: string): MessageRow | undefined
  /** The same, which stays remembered. */
  find(channel_id: string, provider_id: string): MessageRow | undefined
}

const rowsMax = 10_000

/** The oldest are forgotten first. */
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
