/** What the readings of all platforms have in common. */
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../api/problem.ts'
import type { Fields } from '../lib/json-fields.ts'
import { textOf } from './fields.ts'
import type { Meaning, NativeEvent } from './native-event.ts'
import { headerText } from './signatures.ts'

const topicForm = /^[A-Za-z0-9][\w./-]{0,99}$/

/** The topic that a header names. Throws `parameter_missing` without one. */
export function topicOf(headers: IncomingHttpHeaders, name: string): string {
  const topic = headerText(headers, name.toLowerCase())?.trim() ?? ''
  if (topic === '')
    throw invalid(
      name,
      'missing_field',
      `The header ${name} is missing, so nobody knows what the payload is about. Let the platform itself send the webhook.`,
    )
  if (!topicForm.test(topic))
    throw invalid(
      name,
      'invalid_format',
      `The header ${name} names no topic of a platform, such as \`orders/paid\` or \`order.updated\`../modules/automations/receivers`,
    )
  return topic
}

/** What every payload of its topic has. Throws `parameter_missing` where it has not. */
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

/** What a payload of a topic that the catalogue has means, with the original beside it. */
export function eventOf(
  { marketing, data, ...meaning }: Meaning,
  event_id: string,
  occurred_at: string | null,
  payload: Fields,
): NativeEvent {
  return {
    ...meaning,
    event_id,
    occurred_at,
    consent: { transactional: null, marketing },
    data: { ...data, raw: payload },
  }
}

/** A topic that the catalogue has nothing for: kept as a receipt, and nothing runs. */
export const unmapped = (
  platform: string,
  topic: string,
  event_id: string,
  occurred_at: string | null,
  payload: Fields,
): NativeEvent => ({
  type: `${platform}.${topic}`,
  event_id,
  occurred_at,
  order_id: null,
  customer: {},
  consent: { transactional: null, marketing: null },
  data: Object.keys(payload).length > 0 ? { raw: payload } : {},
  unmapped: true,
})
