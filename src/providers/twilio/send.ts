/** Sends messages through Twilio. */
import { isReachable, urlRefusal } from '../../lib/public-address.ts'
import type { Connection, OutboundMessage, Outcome, ProviderTools } from '../provider.ts'
import { callApi, credentialsOf, fieldsOf, isSid, outcomeOf } from './api.ts'
import { refusedWith, receiptOf } from './codes.ts'

const validitySecondsMin = 1
const validitySecondsMax = 36_000

interface Attachment {
  readonly url: string
  readonly caption?: string | null
}

export async function send(
  tools: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
): Promise<Outcome> {
  const answer = await callApi(tools, connection, '/Messages.json', signal, formOf(tools, message, connection))
  const { sid, status, error_code } = fieldsOf(answer) ?? {}
  if (answer.kind !== 'answer' || answer.status < 200 || answer.status > 299 || !isSid(sid)) return outcomeOf(answer)
  // the answer may already report a failure
  const failed = receiptOf(sid, String(status), String(error_code ?? ''))?.error
  return failed === undefined ? { kind: 'accepted', provider_ids: [sid] } : refusedWith(failed)
}

function formOf(tools: ProviderTools, message: OutboundMessage, connection: Connection): URLSearchParams {
  const { messaging_service_sid } = credentialsOf(connection)
  const form = new URLSearchParams({ To: message.to })
  if (messaging_service_sid === undefined) form.set('From', message.from)
  else form.set('MessagingServiceSid', messaging_service_sid)
  const body = bodyOf(message)
  if (body !== '') form.set('Body', body)
  if (message.type === 'attachments')
    for (const { url } of message.content as readonly Attachment[]) form.append('MediaUrl', url)
  // else Twilio replaces characters, and billing would differ
  form.set('SmartEncoded', 'false')
  const callback = callbackOf(tools, message, connection)
  if (callback !== null) form.set('StatusCallback', callback)
  if (message.expires_at !== null) {
    const seconds = Math.floor((Date.parse(message.expires_at) - tools.clock.now()) / 1000)
    form.set('ValidityPeriod', String(Math.min(Math.max(seconds, validitySecondsMin), validitySecondsMax)))
  }
  return form
}

export function bodyOf({ type, content }: OutboundMessage): string {
  if (type !== 'attachments') return (content as { body: string }).body
  return (content as readonly Attachment[]).flatMap(({ caption }) => (caption ? [caption] : [])).join('\n')
}

/** For callbacks that precede the answer. Twilio refuses a private address, which only a private stand-in gets. */
function callbackOf({ url }: ProviderTools, message: OutboundMessage, { webhook_url }: Connection): string | null {
  if (urlRefusal(url, []) !== null) return `${webhook_url}?message=${message.id}`
  const refused = urlRefusal(webhook_url, [])
  return refused === null || (refused === 'not_https' && isReachable(webhook_url))
    ? `${webhook_url}?message=${message.id}`
    : null
}
