/** Receipts as the interface shows them. */
import type { AutomationEvent } from '../../../api/resources/automation-event.ts'
import type { RunOfEvent } from '../../../api/resources/automation-run.ts'
import type { ReceiptRow } from './store.ts'

/** `runs`: what its automations do about it. `duplicate`: answered to who reports the event again. */
export const receiptObject = (row: ReceiptRow, runs: readonly RunOfEvent[], duplicate = false): AutomationEvent => ({
  id: row.id,
  object: 'automation_event',
  mode: row.mode,
  source_id: row.source_id,
  type: row.type,
  event_id: row.event_id,
  origin: row.origin,
  status: duplicate ? 'duplicate' : row.status,
  reason: row.reason,
  contact_id: row.contact_id,
  runs: [...runs],
  data: row.data,
  occurred_at: row.occurred_at,
  created_at: row.created_at,
})
