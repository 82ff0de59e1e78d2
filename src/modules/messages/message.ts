/** The rows of messages as every part of the feature reads them. */
import type { MessageError, MessageStatus, OriginType, Priority } from '../../api/resources/message.ts'

/** As it is kept: without a provider's code where there is none. */
export type KeptError = Omit<MessageError, 'provider_code'> & { readonly provider_code: string | null }

/** A row of `messages`: the Message with its nested objects flat. */
export interface MessageRow {
  account_id: string
  mode: 'live' | 'test'
  id: string
  channel_id: string
  channel_type: string
  direction: 'outbound' | 'inbound'
  to: string
  from: string
  type: string
  /** What stands under the key named by `type`. */
  content: unknown
  status: MessageStatus
  error: KeptError | null
  reference: string | null
  metadata: Record<string, unknown>
  billing_source: 'package' | 'wallet'
  amount_micros: number
  package_grant_id: string | null
  refunded: boolean
  contact_id: string | null
  origin_type: OriginType
  origin_id: string | null
  /** By which its producer knows it, where it must become exactly one message; never shown. */
  submission_key: string | null
  reply_to: string | null
  segments: number | null
  encoding: 'gsm7' | 'ucs2' | null
  priority: Priority
  send_at: string | null
  expires_at: string | null
  created_at: string
  updated_at: string
  sending_at: string | null
  sent_at: string | null
  delivered_at: string | null
  read_at: string | null
  failed_at: string | null
}
