/** An integration source: its row and its JSON (behaviour: integrations 1.4). */
import type { Tenant } from '../../../api/caller.ts'
import type { ConsentMode, IntegrationSource, SourceStatus } from '../../../api/resources/integration-source.ts'
import { commonPlatform } from '../../../sources/registry.ts'
import type { EnabledEvent } from '../automation.ts'

export interface SourceRow extends Tenant {
  readonly id: string
  readonly platform: string
  readonly external_id: string
  readonly name: string
  readonly url: string | null
  readonly status: SourceStatus
  readonly plugin_version: string | null
  readonly platform_version: string | null
  readonly emits: readonly string[]
  readonly contact_sync: boolean
  readonly consent_mode: ConsentMode
  readonly store_all_events: boolean
  readonly config_version: number
  readonly key_hash: string
  /** Encrypted. */
  readonly signing_secret: string
  readonly last_event_at: string | null
  readonly created_at: string
}

export function sourceObject(base_url: string, row: SourceRow, enabled: readonly EnabledEvent[]): IntegrationSource {
  const { account_id, mode, id, store_all_events, contact_sync, consent_mode } = row
  const console_url = `${base_url}/console/${account_id}/${mode}`
  const platforms = [...new Set([row.platform, commonPlatform])]
  return {
    id,
    object: 'integration_source',
    mode,
    platform: row.platform,
    external_id: row.external_id,
    name: row.name,
    url: row.url,
    status: row.status,
    plugin_version: row.plugin_version,
    platform_version: row.platform_version,
    emits: [...row.emits],
    enabled_events: store_all_events ? ['*'] : enabled.map(({ event_type }) => event_type),
    event_settings: Object.fromEntries(enabled.map(({ event_type, delay_seconds }) => [event_type, { delay_seconds }])),
    settings: { contact_sync, consent_mode, store_all_events },
    console_url: `${console_url}/integrations/${id}`,
    automation_url_template: `${console_url}/automations/new?source=${id}&event_type={event_type}`,
    ingest_urls: Object.fromEntries(platforms.map((platform) => [platform, `${base_url}/v1/ingest/${platform}/${id}`])),
    config_version: row.config_version,
    last_event_at: row.last_event_at,
    created_at: row.created_at,
  }
}
