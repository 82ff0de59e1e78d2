/** A message that has passed its checks, with everything that accepting it needs. */
import type { Tenant } from '../../../api/caller.ts'
import type { Priority } from '../../../api/resources/message.ts'

/** A message that may be submitted; its id and times are given when its batch is committed. */
export interface CheckedMessage {
  account_id: Tenant['account_id']
  mode: Tenant['mode']
  channel_id: string
  channel_type: string
  to: string
  from: string
  type: string
  content: unknown
  reference: string | null
  metadata: Record<string, unknown>
  reply_to: string | null
  segments: number | null
  encoding: 'gsm7' | 'ucs2' | null
  priority: Priority
  send_at: string | null
  expires_in_seconds: number | null
  price_micros: number
  /** `contact_addresses` key of the recipient. */
  kind: string
  address: string
  suppression: string
  /** Free-form on live whatsapp: only inside the customer service window. */
  windowed: boolean
  /** Sandbox channels never cost, and are handed over by any process. */
  sandbox: boolean
}
