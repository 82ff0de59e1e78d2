/**
 * Reads what Vonage calls back with: delivery receipts and messages that come in, as GET, form or JSON, as the account is set. They are known by
 * their signature (https://developer.vonage.com/en/getting-started/concepts/signing-messages), or, where the account has none, by a word in the address.
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
import { addressWithToken, hasToken } from '../address-token.ts'
import { inboundText } from '../bare-numbers.ts'
import { failure, transitions } from './codes.ts'

type Fields = Readonly<Record<string, string>>

/** As many as the header of a part can count. */
const partsMax = 255
/** More fields than Vonage sends. */
const fieldsMax = 100

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const secretOf = ({ credentials }: Connection, name: string): string => textOf(credentials[name])

/** Where receipts are called back: with the word, where they are not signed. */
export function callbackUrl(connection: Connection): string {
  if (secretOf(connection, 'signature_secret') !== '') return connection.webhook_url
  return addressWithToken(connection)
}

export function receiveCallback(callback: Callback, connection: Connection): CallbackResult | null {
  const fields = fieldsOf(callback)
  if (!isKnown(callback, fields, connection)) return null
  const reports = reportsOf(fields, connection)
  return reports.length > 0 ? { items: reports } : { items: reports, ignored: whyIgnored(fields) }
}

function whyIgnored(fields: Fields): string {
  if (textOf(fields['messageId']) === '') return 'a callback without a messageId'
  return fields['status'] === undefined
    ? 'a message to another number, or from nobody'
    : 'a receipt whose status says nothing'
}

/** The parameters, wherever the account lets them travel; none where they cannot be read. */
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

/** Texts and numbers by their names; anything else is none of Vonage's, and left out. */
function flat(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const entries = Object.entries(value)
    .slice(0, fieldsMax)
    .flatMap(([name, field]): [string, string][] =>
      typeof field === 'string' || typeof field === 'number' ? [[name, String(field)]] : [],
    )
  return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(entries))
}

function isKnown(callback: Callback, fields: Fields, connection: Connection): boolean {
  const secret = secretOf(connection, 'signature_secret')
  if (secret !== '') return sameText(signatureOf(fields, secret), textOf(fields['sig']).toLowerCase())
  return hasToken(callback, connection)
}

/** Over `&name=value` of all that Vonage tells, in the order of the names, `&` and `=` in values written as `_`. */
export function signatureOf(fields: Fields, secret: string): string {
  const signed = Object.entries(fields)
    .filter(([name]) => name !== 'sig' && name !== 'token')
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `&${name}=${value.replace(/[&=]/g, '_')}`)
  return hmacHex(secret, signed.join(''))
}

/** A callback has one message, or what became of one. */
function reportsOf(fields: Fields, connection: Connection): CallbackItem[] {
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

/** Which part of a long text it is, where it is one. */
function partOf(fields: Fields): Pick<InboundMessage, 'part'> {
  const [reference, total, number] = [
    textOf(fields['concat-ref']),
    Number(fields['concat-total']),
    Number(fields['concat-part']),
  ]
  return reference !== '' && reference.length <= 50 && isPlace(total, number)
    ? { part: { reference, total, number } }
    : {}
}

const isPlace = (total: number, number: number): boolean =>
  Number.isInteger(total) &&
  Number.isInteger(number) &&
  total > 1 &&
  total <= partsMax &&
  number >= 1 &&
  number <= total
