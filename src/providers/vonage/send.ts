/** Sends a text through the Vonage SMS API and reads the status of each part. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import { smsEncoding } from '../../lib/gsm.ts'
import { parsedObject } from '../../lib/json.ts'
import { isReachable } from '../../lib/public-address.ts'
import type { Connection, Outcome, OutboundMessage, ProviderTools } from '../provider.ts'
import { withoutPlus } from '../sms-callbacks.ts'
import { outcomeOfForeignAnswer, retryAfterOf, outcomeOfNoAnswer } from '../outcomes.ts'
import { callbackUrl } from './callbacks.ts'
import { refusal } from './codes.ts'

const validityMs = { min: 20_000, max: 7 * 24 * 3600_000 }
const partsMax = 100

export async function send(
  tools: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
): Promise<Outcome> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const body = JSON.stringify(requestOf(tools, message, connection))
  return outcomeOf(await tools.http.call({ method: 'POST', url: `${tools.url}/sms/json`, headers, body, signal }))
}

function requestOf(
  { clock }: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
): Record<string, string | number> {
  const { credentials } = connection
  const text = (message.content as { body: string }).body
  const { encoding, segments } = smsEncoding(text)
  const left_ms = message.expires_at === null ? undefined : Date.parse(message.expires_at) - clock.now()
  return {
    api_key: String(credentials['api_key']),
    api_secret: String(credentials['api_secret']),
    from: withoutPlus(message.from),
    to: withoutPlus(message.to),
    text,
    type: encoding === 'ucs2' ? 'unicode' : 'text',
    // Vonage refuses an address that it cannot call
    ...(isReachable(connection.webhook_url) ? { 'status-report-req': 1, callback: callbackUrl(connection) } : {}),
    // the receipts of all parts have the same client-ref
    ...(segments === 1 ? { 'client-ref': message.id } : {}),
    ...(left_ms === undefined ? {} : { ttl: Math.min(Math.max(left_ms, validityMs.min), validityMs.max) }),
  }
}

interface Part {
  readonly status: string
  readonly id: string
  readonly error_text: string
}

function outcomeOf(answer: HttpAnswer): Outcome {
  if (answer.kind !== 'answer') return outcomeOfNoAnswer('Vonage', answer)
  const { status, headers, body } = answer
  const parts = status >= 200 && status < 300 ? partsOf(body) : null
  if (parts !== null) return outcomeOfParts(parts)
  if (!isProblem(body)) return outcomeOfForeignAnswer('Vonage', answer)
  if (status === 401) return refusal('4', '')
  if (status === 429) return { ...refusal('1', ''), ...retryAfterOf(headers) }
  if (status >= 400 && status < 500 && status !== 408)
    return {
      kind: 'refused',
      code: 'provider_error',
      provider_code: String(status),
      message: `Vonage refused the message with ${status}.`,
    }
  // Vonage has no status query
  return { kind: 'unknown', message: `Vonage answered ${status} without a result, and may have accepted the message.` }
}

function isProblem(body: Buffer): boolean {
  const { type, title, 'error-code-label': label, 'error-text': text } = parsedObject(body) ?? {}
  return (
    (typeof type === 'string' && typeof title === 'string') || typeof label === 'string' || typeof text === 'string'
  )
}

/** null if the answer is not Vonage's. */
function partsOf(body: Buffer): readonly [Part, ...Part[]] | null {
  const messages = parsedObject(body)?.['messages']
  if (!Array.isArray(messages)) return null
  const parts = messages.slice(0, partsMax).map(partOf)
  return parts.length > 0 && parts.every((part) => part !== null) ? (parts as [Part, ...Part[]]) : null
}

function partOf(value: unknown): Part | null {
  if (typeof value !== 'object' || value === null) return null
  const { status, 'message-id': id = '', 'error-text': error_text = '' } = value as Record<string, unknown>
  if (
    typeof status !== 'string' ||
    !/^\d{1,5}$/.test(status) ||
    typeof id !== 'string' ||
    typeof error_text !== 'string'
  )
    return null
  return status === '0' && (id === '' || id.length > 200) ? null : { status, id, error_text }
}

function outcomeOfParts(parts: readonly [Part, ...Part[]]): Outcome {
  const refused = parts.find(({ status }) => status !== '0')
  if (refused === undefined)
    return { kind: 'accepted', provider_ids: parts.map(({ id }) => id) as [string, ...string[]] }
  const outcome = refusal(refused.status, refused.error_text)
  const accepted = parts.filter(({ status }) => status === '0').map(({ id }) => id)
  if (accepted.length === 0 || outcome.kind === 'accepted') return outcome
  // repeating the message would send the accepted parts twice
  if (outcome.kind === 'refused') return { ...outcome, provider_ids: accepted }
  return {
    kind: 'refused',
    code: 'provider_error',
    provider_code: refused.status,
    message: outcome.message,
    provider_ids: accepted,
  }
}
