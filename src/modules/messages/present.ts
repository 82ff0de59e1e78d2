/** Rows of messages as the API shows them. */
import { Problem } from '../../api/problem.ts'
import type { Message, MessageError } from '../../api/resources/message.ts'
import { errorBody } from '../../platform/http/envelope.ts'
import type { KeptError, MessageRow } from './message.ts'
import type { AttemptRow } from './repository.ts'

/** The Message of a row, as the API shows it. */
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

/** The Message as it was when it was accepted: what a replayed 202 answers. */
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

/** The error as the API shows it, whose `provider_code` is always a string. */
export const errorObject = (error: KeptError | null): MessageError | null =>
  error === null ? null : { code: error.code, message: error.message, provider_code: error.provider_code ?? '' }

/** The answer of a batch: one entry a result, `show` making the Message of each accepted one. */
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

/** A hand-over as the API shows it. */
export const attemptObject = (row: AttemptRow) => ({ object: 'message_attempt' as const, ...row })
