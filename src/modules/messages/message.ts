/** Messages: row, statuses and transitions (behaviour: messages 6), JSON. */
import type { Message, MessageError, MessageStatus, OriginType, Priority } from '../../api/resources/message.ts'
import { Problem } from '../../api/problem.ts'
import { approximateLength } from '../../lib/json-size.ts'
import { errorBody } from '../../platform/http/responses.ts'

export type StoredError = Omit<MessageError, 'provider_code'> & { readonly provider_code: string | null }

export interface AttemptRow {
  id: string
  number: number
  provider: string
  outcome: string
  provider_code: string | null
  provider_message: string | null
  duration_ms: number
  created_at: string
}

/** Of content and metadata, in characters of JSON. */
export const messageLength = ({
  content,
  metadata,
}: {
  readonly content: unknown
  readonly metadata: unknown
}): number => approximateLength(content) + approximateLength(metadata)

/** The nested objects of a Message are flat. */
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
  content: unknown
  status: MessageStatus
  error: StoredError | null
  reference: string | null
  metadata: Record<string, unknown>
  billing_source: 'package' | 'wallet'
  amount_micros: number
  package_grant_id: string | null
  refunded: boolean
  contact_id: string | null
  origin_type: OriginType
  origin_id: string | null
  /** Set by a producer whose row must become exactly one message; never shown. */
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

export const transitions = {
  /** An attempt begins. A repeated attempt stays in `sending`. */
  claim: { from: ['queued', 'sending'], to: 'sending' },
  accept: { from: ['queued', 'sending'], to: 'sent' },
  deliver: { from: ['queued', 'sending', 'sent'], to: 'delivered' },
  open: { from: ['queued', 'sending', 'sent', 'delivered'], to: 'read' },
  fail: { from: ['queued', 'sending', 'sent'], to: 'failed' },
  /** Does not overwrite later reports of an earlier attempt. */
  refuse: { from: ['queued', 'sending'], to: 'failed' },
  /** Only before the first attempt. */
  cancel: { from: ['queued'], to: 'failed' },
} as const satisfies Record<string, { from: readonly MessageStatus[]; to: MessageStatus }>

export type Transition = keyof typeof transitions

export const allows = (status: MessageStatus, transition: Transition): boolean =>
  (transitions[transition].from as readonly MessageStatus[]).includes(status)

/** Transitions never lead to a lower rank. */
export const rankOf = { queued: 0, sending: 1, sent: 2, delivered: 3, read: 4, failed: 5 } as const satisfies Partial<
  Record<MessageStatus, number>
>

export type OutboundStatus = keyof typeof rankOf

/** Including those of skipped statuses. */
export const stamps: Readonly<
  Record<MessageStatus, readonly ('sending_at' | 'sent_at' | 'delivered_at' | 'read_at' | 'failed_at')[]>
> = {
  queued: [],
  received: [],
  sending: ['sending_at'],
  sent: ['sending_at', 'sent_at'],
  delivered: ['sending_at', 'sent_at', 'delivered_at'],
  read: ['sending_at', 'sent_at', 'delivered_at', 'read_at'],
  failed: ['failed_at'],
}

export const eventOf = {
  sent: 'message.sent',
  delivered: 'message.delivered',
  read: 'message.read',
  failed: 'message.failed',
  received: 'message.received',
} as const

export function messageObject(row: MessageRow): Message {
  return {
    id: row.id,
    object: 'message',
    mode: row.mode,
    channel_id: row.channel_id,
    channel_type: row.channel_type,
    direction: row.direction,
    to: row.to,
    from: row.from,
    type: row.type,
    content: { [row.type]: row.content },
    status: row.status,
    error: errorObject(row.error),
    reference: row.reference,
    metadata: row.metadata,
    billing: {
      source: row.billing_source,
      amount_micros: row.amount_micros,
      package_grant_id: row.package_grant_id,
      refunded: row.refunded,
    },
    sender: null,
    contact_id: row.contact_id,
    origin: { type: row.origin_type, id: row.origin_id },
    reply_to: row.reply_to,
    segments: row.segments,
    encoding: row.encoding,
    priority: row.priority,
    send_at: row.send_at,
    expires_at: row.expires_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
    sent_at: row.sent_at,
    delivered_at: row.delivered_at,
    read_at: row.read_at,
    failed_at: row.failed_at,
  }
}

export function acceptedObject(row: MessageRow): Message {
  return messageObject({
    ...row,
    status: 'queued',
    error: null,
    refunded: false,
    updated_at: row.created_at,
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
  })
}

export const errorObject = (error: StoredError | null): MessageError | null =>
  error === null ? null : { code: error.code, message: error.message, provider_code: error.provider_code ?? '' }

export function batchObject(
  results: readonly (MessageRow | Problem)[],
  show: (row: MessageRow) => Message,
  request_id: string,
  base_url: string,
) {
  const data = results.map((result, index) =>
    result instanceof Problem
      ? { index, status: result.status, error: errorBody(result, request_id, base_url) }
      : { index, status: 202, message: show(result) },
  )
  const rejected = results.filter((result) => result instanceof Problem).length
  return { object: 'batch' as const, data, accepted: results.length - rejected, rejected }
}

export const attemptObject = (row: AttemptRow) => ({ object: 'message_attempt' as const, ...row })

export const providerCodeOf = (code: unknown): string | null =>
  (typeof code === 'string' && code.trim() !== '') || typeof code === 'number' ? String(code) : null
