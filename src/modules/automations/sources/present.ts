/** Sources as the interface shows them (behaviour: integrations 1.4). */
import type { IntegrationSource } from '../../../api/resources/integration-source.ts'
import type { EnabledEvent } from '../automations/store.ts'
import type { SourceRow } from './store.ts'

/** `enabled`: what its active automations do about, by type. */
export function sourceObject(base_url: string, row: SourceRow, enabled: readonly EnabledEvent[]): IntegrationSource {
  const { account_id, mode, id, store_all_events, contact_sync, consent_mode } = row
  const console_url = `${base_url}/console/${account_id}/${mode}`
  const platforms = [...new Set([row.platform, 'custom'])]
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
