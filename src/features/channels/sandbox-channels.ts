/** The sandbox channels that stand in every account's test mode without being rows. */
import type { Tenant } from '../../contract/caller.ts'
import { channelTypes, type ChannelType } from '../../contract/resources/channel.ts'
import { sandbox } from './providers/sandbox.ts'
import type { ChannelRow } from './store.ts'

const standingSince = '2026-01-01T00:00:00.000Z'
const sandboxIdentifiers: Readonly<Record<ChannelType, string>> = { whatsapp: '+15005550000', sms: '+15005550099', telegram: 'posthorn_sandbox_bot' }
const sandboxNames: Readonly<Record<ChannelType, string>> = { whatsapp: 'Sandbox WhatsApp', sms: 'Sandbox SMS', telegram: 'Sandbox Telegram' }

/** One of each type. */
export const sandboxChannels = (tenant: Tenant): ChannelRow[] => channelTypes.map((type) => sandboxChannel(tenant, type))

/** The sandbox channel with this id, or null. */
export function findSandboxChannel(tenant: Tenant, id: string): ChannelRow | null {
  const type = channelTypes.find((candidate) => id === `ch_test_${candidate}`)
  return type === undefined ? null : sandboxChannel(tenant, type)
}

const sandboxChannel = (tenant: Tenant, type: ChannelType): ChannelRow => ({
  account_id: tenant.account_id,
  mode: 'test',
  id: `ch_test_${type}`,
  type,
  provider: 'sandbox',
  name: sandboxNames[type],
  identifier: sandboxIdentifiers[type],
  status: 'active',
  connection_status: 'connected',
  capabilities: sandbox.capabilities(type, {}),
  settings: {},
  credentials: '',
  deleted_at: null,
  created_at: standingSince,
})
