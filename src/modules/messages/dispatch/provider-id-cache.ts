/** Recently sent messages by provider id, so early receipts need not read the database. */
import { limits } from '../../../api/limits.ts'
import { messageLength, type MessageRow } from '../message.ts'

export interface ProviderIdCache {
  remember(channel_id: string, provider_id: string, row: MessageRow): void
  /** Removes and returns the row, which may be stale. */
  take(channel_id: string, provider_id: string): MessageRow | undefined
  find(channel_id: string, provider_id: string): MessageRow | undefined
}

const rowsMax = 10_000
const charactersMax = limits.memory_characters_max / 4

export function providerIdCache(): ProviderIdCache {
  const rows = new Map<string, { readonly row: MessageRow; readonly characters: number }>()
  let characters = 0
  const remove = (key: string): MessageRow | undefined => {
    const entry = rows.get(key)
    if (entry === undefined) return undefined
    rows.delete(key)
    characters -= entry.characters
    return entry.row
  }
  return {
    remember(channel_id, provider_id, row) {
      const key = `${channel_id} ${provider_id}`
      remove(key)
      const entry = { row, characters: messageLength(row) }
      rows.set(key, entry)
      characters += entry.characters
      while (rows.size > rowsMax || characters > charactersMax) remove(rows.keys().next().value!)
    },
    take: (channel_id, provider_id) => remove(`${channel_id} ${provider_id}`),
    find: (channel_id, provider_id) => rows.get(`${channel_id} ${provider_id}`)?.row,
  }
}
