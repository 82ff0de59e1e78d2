/** The receipt of an event: its row and its JSON (behaviour: integrations 3.7). */
import type { Tenant } from '../../../api/caller.ts'
import type {
  AutomationEvent,
  EventCustomer,
  ReceiptReason,
  ReceiptStatus,
  ReportOrigin,
} from '../../../api/resources/automation-event.ts'
import type { RunOfEvent } from '../../../api/resources/automation-run.ts'
import type { EventConsent } from '../../../sources/event.ts'

export interface ReceiptRow extends Tenant {
  readonly id: string
  readonly source_id: string
  readonly type: string
  readonly event_id: string
  readonly origin: ReportOrigin
  readonly status: Exclude<ReceiptStatus, 'duplicate'>
  readonly reason: ReceiptReason | null
  readonly contact_id: string | null
  readonly customer: EventCustomer
  readonly consent: EventConsent
  readonly data: Record<string, unknown>
  readonly occurred_at: string
  readonly created_at: string
}

export type NewReceipt = ReceiptRow & {
  readonly dedup_key: string | null
  /** An order status reported without an address, free for other topics. */
  readonly freed_dedup_key: string | null
  readonly data_json: string
}

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
