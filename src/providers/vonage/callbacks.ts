/**
 * Vonage callbacks (GET, form or JSON), verified by signature
 * (https://developer.vonage.com/en/getting-started/concepts/signing-messages) or by the token in the address.
 */
import { hmacHex, sameText } from '../../lib/hmac.ts'
import type {
  Callback,
  Connection,
  InboundMessage,
  DeliveryReceipt,
  CallbackResult,
  CallbackItem,
} from '../provider.ts'
import { callbackUrlWithToken, hasToken, inboundText } from '../sms-callbacks.ts'
import { failure, transitions } from './codes.ts'

type Fields = Readonly<Record<string, string>>

const partsMax = 255
const fieldsMax = 100

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const secretOf = ({ credentials }: Connection, name: string): string => textOf(credentials[name])

export function callbackUrl(connection: Connection): string {
  if (secretOf(connection, 'signature_secret') !== '') return connection.webhook_url
  return callbackUrlWithToken(connection)
}

export function receiveCallback(callback: Callback, connection: Connection): CallbackResult | null {
  const fields = fieldsOf(callback)
  if (!isVerified(callback, fields, connection)) return null
  const items = itemsOf(fields, connection)
  return items.length > 0 ? { items } : { items, ignored: ignoredReason(fields) }
}

function ignoredReason(fields: Fields): string {
  if (textOf(fields['messageId']) === '') return 'a callback without a messageId'
  return fields['status'] === undefined
    ? 'a message to another number or without a sender'
    : 'a delivery receipt with a status that changes nothing'
}

function fieldsOf({ method, query, headers, body }: Callback): Fields {
  if (method === 'GET') return flat(query)
  const text = Buffer.from(body).toString('utf8')
  if (!/\bjson\b/i.test(headers['content-type'] ?? '')) return flat(Object.fromEntries(new URLSearchParams(text)))
  try {
    return flat(JSON.parse(text))
  } catch {
    return {}
  }
}

function flat(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const entries = Object.entries(value)
    .slice(0, fieldsMax)
    .flatMap(([name, field]): [string, string][] =>
      typeof field === 'string' || typeof field === 'number' ? [[name, String(field)]] : [],
    )
  return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(entries))
}

function isVerified(callback: Callback, fields: Fields, connection: Connection): boolean {
  const secret = secretOf(connection, 'signature_secret')
  if (secret !== '') return sameText(signatureOf(fields, secret), textOf(fields['sig']).toLowerCase())
  return hasToken(callback, connection)
}

/** HMAC over `&name=value` of the sorted fields; `&` and `=` in values become `_`. */
export function signatureOf(fields: Fields, secret: string): string {
  const signed = Object.entries(fields)
    .filter(([name]) => name !== 'sig' && name !== 'token')
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `&${name}=${value.replace(/[&=]/g, '_')}`)
  return hmacHex(secret, signed.join(''))
}

function itemsOf(fields: Fields, connection: Connection): CallbackItem[] {
  const provider_id = textOf(fields['messageId'])
  if (provider_id === '' || provider_id.length > 200) return []
  if (fields['status'] !== undefined) return receiptOf(provider_id, fields)
  return inboundOf(provider_id, fields, connection)
}

function receiptOf(provider_id: string, fields: Fields): DeliveryReceipt[] {
  const status = textOf(fields['status'])
  const transition = Object.hasOwn(transitions, status) ? transitions[status]! : undefined
  if (transition === undefined) return []
  const message_id = textOf(fields['client-ref'])
  return [
    {
      kind: 'delivery_receipt',
      provider_id,
      ...(message_id === '' ? {} : { message_id }),
      transition,
      ...(transition === 'fail' ? { error: failure(status, textOf(fields['err-code']).slice(0, 20)) } : {}),
    },
  ]
}

function inboundOf(provider_id: string, fields: Fields, connection: Connection): InboundMessage[] {
  const [from, to, type] = [textOf(fields['msisdn']), textOf(fields['to']), textOf(fields['type'])]
  const text = type !== 'binary' && fields['text'] !== undefined ? textOf(fields['text']) : null
  const message = inboundText({ provider_id, from, to, text, provider_type: type.slice(0, 40) }, connection)
  return message === null ? [] : [{ ...message, ...(text === null ? {} : partOf(fields)) }]
}

function partOf(fields: Fields): Pick<InboundMessage, 'part'> {
  const [reference, total, number] = [
    textOf(fields['concat-ref']),
    Number(fields['concat-total']),
    Number(fields['concat-part']),
  ]
  return reference !== '' && reference.length <= 50 && isPosition(total, number)
    ? { part: { reference, total, number } }
    : {}
}

const isPosition = (total: number, number: number): boolean =>
  Number.isInteger(total) &&
  Number.isInteger(number) &&
  total > 1 &&
  total <= partsMax &&
  number >= 1 &&
  number <= total
