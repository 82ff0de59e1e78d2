/** A run, the execution of an automation for one event: its row and its JSON (behaviour: integrations 6.2). */
import type { Tenant } from '../../../api/caller.ts'
import type { AutomationRun, RunStatus } from '../../../api/resources/automation-run.ts'

export interface RunRow extends Tenant {
  readonly id: string
  readonly source_id: string
  readonly automation_id: string
  readonly automation_event_id: string
  readonly contact_id: string | null
  readonly status: RunStatus
  readonly reason: string | null
  readonly scheduled_for: string
  readonly message_id: string | null
  readonly created_at: string
}

export interface NewRun extends Omit<RunRow, 'status' | 'message_id'> {
  readonly status: 'scheduled' | 'skipped'
  readonly customer_keys: readonly string[]
  /** null if event and contact have no address. */
  readonly channel_type: string
  readonly to: string | null
  readonly event_type: string
}

export const runObject = ({
  id,
  automation_id,
  status,
  scheduled_for,
  message_id,
  reason,
  ...row
}: RunRow): AutomationRun => ({
  id,
  automation_id,
  status,
  scheduled_for,
  message_id,
  reason,
  object: 'automation_run',
  mode: row.mode,
  source_id: row.source_id,
  automation_event_id: row.automation_event_id,
  contact_id: row.contact_id,
  created_at: row.created_at,
})
