/** Automations as the interface shows them. */
import type { Automation } from '../../../api/resources/automation.ts'
import type { AutomationRow } from './store.ts'

export const automationObject = (row: AutomationRow): Automation => ({
  id: row.id,
  object: 'automation',
  mode: row.mode,
  name: row.name,
  source_id: row.source_id,
  event_type: row.event_type,
  status: row.status,
  conditions: row.conditions,
  delay_seconds: row.delay_seconds,
  cancel_on: [...row.cancel_on],
  channel_id: row.channel_id,
  category: row.category,
  message: row.message,
  merge_fallbacks: { ...row.merge_fallbacks },
  created_at: row.created_at,
  updated_at: row.updated_at,
})
