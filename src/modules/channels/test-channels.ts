/** The sandbox channels of test mode, which exist in every account without database rows. */
import type { Tenant } from '../../api/caller.ts'
import { channelTypes, type ChannelType } from '../../api/resources/channel.ts'
import type { Provider, TestMode } from '../../providers/provider.ts'
import { providers } from '../../providers/registry.ts'
import type { ChannelRow } from './channel.ts'
import type { TemplateRow } from './templates/repository.ts'

const existsSince = '2026-01-01T00:00:00.000Z'

const provider = providers.find(
  (one): one is Provider & { readonly test_mode: TestMode } => one.test_mode !== undefined,
)!

export const testRecipients = provider.test_mode.recipients

/** Test mode has no other channels. */
export const isTestChannel = ({ mode }: Pick<ChannelRow, 'mode'>): boolean => mode === 'test'

export const testChannels = (tenant: Tenant): ChannelRow[] => channelTypes.map((type) => testChannel(tenant, type))

export function findTestChannel(tenant: Tenant, id: string): ChannelRow | null {
  const type = channelTypes.find((candidate) => id === `ch_test_${candidate}`)
  return type === undefined ? null : testChannel(tenant, type)
}

export const testTemplates = (type: ChannelType): readonly TemplateRow[] => templates.get(type)!

const templates = new Map<ChannelType, readonly TemplateRow[]>(
  channelTypes.map((type) => [
    type,
    provider.test_mode.channels[type].templates.map((record) => ({
      ...record,
      id: `tpl_test_${record.provider_id}`,
      updated_at: record.updated_at ?? '',
    })),
  ]),
)

const testChannel = (tenant: Tenant, type: ChannelType): ChannelRow => ({
  account_id: tenant.account_id,
  mode: 'test',
  id: `ch_test_${type}`,
  type,
  provider: provider.name,
  name: provider.test_mode.channels[type].name,
  identifier: provider.test_mode.channels[type].identifier,
  status: 'active',
  connection_status: 'connected',
  capabilities: provider.capabilities(type, {}),
  settings: {},
  credentials: '',
  deleted_at: null,
  connection_tested_at: null,
  created_at: existsSince,
})
