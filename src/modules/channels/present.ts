/** Channels and their templates as the API shows them. */
import type { Channel, Template } from '../../api/resources/channel.ts'
import type { ChannelRow } from './store.ts'
import type { TemplateRow } from './templates-store.ts'

/** `base_url` begins the address that the provider is to call. */
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

export const templateObject = (row: Pick<ChannelRow, 'id'>, record: TemplateRow): Template => ({
  id: record.id,
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
})

/** Where a provider calls back (behaviour: channels 7). */
export const webhookUrl = (base_url: string, channel_id: string): string => `${base_url}/hooks/channels/${channel_id}`
