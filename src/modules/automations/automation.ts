/** An automation: its row and its JSON (behaviour: integrations 5). */
import type { Tenant } from '../../api/caller.ts'
import type { Automation, AutomationCategory, AutomationStatus } from '../../api/resources/automation.ts'
import type { TaggedMessage } from '../messages/service.ts'

export interface AutomationRow extends Tenant {
  readonly id: string
  readonly source_id: string
  readonly name: string
  readonly event_type: string
  readonly status: AutomationStatus
  /** null: every event of the type. */
  readonly conditions: Record<string, unknown> | null
  readonly delay_seconds: number
  readonly cancel_on: readonly string[]
  readonly channel_id: string
  readonly channel_type: string
  readonly category: AutomationCategory
  readonly message: TaggedMessage
  readonly merge_fallbacks: Readonly<Record<string, string>>
  readonly created_at: string
  readonly updated_at: string
}

export type ActiveAutomation = Pick<
  AutomationRow,
  | 'account_id'
  | 'mode'
  | 'id'
  | 'source_id'
  | 'event_type'
  | 'conditions'
  | 'delay_seconds'
  | 'cancel_on'
  | 'channel_id'
  | 'channel_type'
  | 'category'
>

export interface EnabledEvent {
  readonly source_id: string
  readonly event_type: string
  readonly delay_seconds: number
}

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
