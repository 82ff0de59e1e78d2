/** For sources whose webhooks are JSON with a topic header and an HMAC of the body. */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../api/problem.ts'
import { hmac, sameText } from '../lib/hmac.ts'
import type { Fields } from '../lib/json.ts'
import type { ShopCustomer, SourceEvent } from './event.ts'
import { textOf } from './fields.ts'
import { readPayload } from './payload.ts'
import type { SignatureCheck, Webhook } from './source.ts'

export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Base64 HMAC-SHA256 of the raw body. `advice` ends the refusal. */
export function hmacHeaderCheck(header: string, secret: string, advice: string): SignatureCheck {
  return ({ headers, body }) => {
    const signature = headerText(headers, header.toLowerCase())
    if (signature === undefined) return `The header ${header} is missing. ${advice}`
    return sameText(signature.trim(), hmac(secret, 'base64', body))
      ? null
      : `The header ${header} does not fit the body. ${advice}`
  }
}

export interface JsonWebhook {
  readonly headers: IncomingHttpHeaders
  readonly payload: Fields
  digest(): string
}

export const payloadReader =
  (read: (webhook: JsonWebhook) => SourceEvent) =>
  ({ headers, body }: Webhook): SourceEvent =>
    read({ headers, payload: readPayload(body), digest: () => hash('sha256', body, 'hex') })

const topicForm = /^[A-Za-z0-9][\w./-]{0,99}$/

/** Throws `parameter_missing` and `parameter_invalid`. */
export function topicOf(headers: IncomingHttpHeaders, name: string): string {
  const topic = headerText(headers, name.toLowerCase())?.trim() ?? ''
  if (topic === '')
    throw invalid(
      name,
      'missing_field',
      `The header ${name} is missing, so the meaning of the payload is unknown. Let the platform itself send the webhook.`,
    )
  if (!topicForm.test(topic))
    throw invalid(
      name,
      'invalid_format',
      `The header ${name} names no topic of a platform, such as \`orders/paid\` or \`order.updated\`.`,
    )
  return topic
}

export function required(payload: Fields, field: string): string {
  const text = textOf(payload[field])
  if (text === null)
    throw invalid(
      field,
      'missing_field',
      `The payload has no \`${field}\`, which every one of its topic has. Look at the body that the platform sends: it may be an error of its own.`,
    )
  return text
}

export interface TopicEvent extends Pick<SourceEvent, 'type' | 'buyer_unknown' | 'consent_this_event_only'> {
  readonly order_id: string | null
  readonly customer: ShopCustomer
  readonly marketing: boolean | null
  readonly data: Fields
}

export function eventOf(
  { marketing, data, ...event }: TopicEvent,
  event_id: string,
  occurred_at: string | null,
  payload: Fields,
): SourceEvent {
  return {
    ...event,
    event_id,
    occurred_at,
    consent: { transactional: null, marketing },
    data: { ...data, raw: payload },
  }
}

/** Stored, but starts no automation. */
export const unmapped = (
  platform: string,
  topic: string,
  event_id: string,
  occurred_at: string | null,
  payload: Fields,
): SourceEvent => ({
  type: `${platform}.${topic}`,
  event_id,
  occurred_at,
  order_id: null,
  customer: {},
  consent: { transactional: null, marketing: null },
  data: Object.keys(payload).length > 0 ? { raw: payload } : {},
  unmapped: true,
})
