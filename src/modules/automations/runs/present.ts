/** Runs as the interface shows them. */
import type { AutomationRun } from '../../../api/resources/automation-run.ts'
import type { RunRow } from './store.ts'

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
