/** A channel: its row, its JSON and its callback address. */
import type { Channel, ChannelType } from '../../api/resources/channel.ts'

export interface ChannelRow {
  account_id: string
  mode: 'live' | 'test'
  id: string
  type: ChannelType
  provider: string
  name: string
  identifier: string
  status: 'pending' | 'active' | 'suspended' | 'disabled'
  connection_status: 'connecting' | 'connected' | 'disconnected'
  capabilities: readonly string[]
  settings: Record<string, unknown>
  /** Encrypted. */
  credentials: string
  deleted_at: string | null
  /** When a reconnect request or new credentials last succeeded. */
  connection_tested_at: string | null
  created_at: string
}

export interface DeletedChannel {
  readonly account_id: string
  readonly channel_id: string
}

export const isUp = ({ status, connection_status }: Pick<ChannelRow, 'status' | 'connection_status'>): boolean =>
  status === 'active' && connection_status === 'connected'

export const channelObject = (row: ChannelRow, base_url: string): Channel => ({
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
  webhook_url: row.mode === 'live' ? webhookUrl(base_url, row.id) : null,
  created_at: row.created_at,
})

/** (behaviour: channels 7) */
export const webhookUrl = (base_url: string, channel_id: string): string => `${base_url}/hooks/channels/${channel_id}`
