/**
 * Twilio callbacks: forms signed over address and sorted fields
 * (https://www.twilio.com/docs/usage/webhooks/webhooks-security).
 */
import { createHash, createHmac } from 'node:crypto'
import { isId } from '../../api/ids.ts'
import { sameText } from '../../lib/hmac.ts'
import { isE164 } from '../../lib/phone.ts'
import type {
  CallbackResponse,
  Callback,
  Connection,
  InboundMessage,
  MediaReference,
  CallbackResult,
  CallbackItem,
} from '../provider.ts'
import { credentialsOf } from './api.ts'
import { stoppedCode, receiptOf } from './codes.ts'

const mediaMax = 10
const fieldsMax = 1_000

const emptyAnswer: CallbackResponse = {
  content_type: 'text/xml; charset=utf-8',
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
}

export function receiveCallback(callback: Callback, connection: Connection): CallbackResult | null {
  const signature = callback.headers['x-twilio-signature'] ?? ''
  const { auth_token } = credentialsOf(connection)
  const form = formOf(callback)
  if (
    typeof auth_token !== 'string' ||
    auth_token === '' ||
    form === null ||
    !isSigned(callback, form, auth_token, signature)
  )
    return null
  return { ...read(new Map(form), callback, connection), response: emptyAnswer }
}

type Form = readonly (readonly [string, string])[]

/** Empty for another content type, whose hash is in the address; null if there are too many fields. */
function formOf({ headers, body }: Callback): Form | null {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return []
  const form = [...new URLSearchParams(Buffer.from(body).toString('utf8'))]
  return form.length > fieldsMax ? null : form
}

function isSigned(callback: Callback, form: Form, auth_token: string, signature: string): boolean {
  if (form.length === 0 && !hasHash(callback)) return false
  const fields = signedFields(form)
  const fits = addresses(callback.url).map((url) =>
    sameText(createHmac('sha1', auth_token).update(url).update(fields).digest('base64'), signature),
  )
  return fits.includes(true)
}

const hasHash = ({ query, body }: Callback): boolean =>
  sameText(createHash('sha256').update(body).digest('hex'), (query['bodySHA256'] ?? '').toLowerCase())

const signedFields = (form: Form): string =>
  [...new Set(form.map(([name, value]) => JSON.stringify([name, value])))]
    .map((pair) => JSON.parse(pair) as [string, string])
    .toSorted(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .flat()
    .join('')

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** With or without its port: Twilio signs either. */
function addresses(url: string): string[] {
  const [, scheme, host, rest] = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(url) ?? []
  if (scheme === undefined) return [url]
  const bare = host!.replace(/:\d+$/, '')
  return [
    ...new Set([url, `${scheme}://${bare}${rest}`, `${scheme}://${bare}:${scheme === 'https' ? 443 : 80}${rest}`]),
  ]
}

function read(fields: ReadonlyMap<string, string>, callback: Callback, connection: Connection): CallbackResult {
  const provider_id = fields.get('MessageSid') ?? fields.get('SmsSid') ?? ''
  const account_sid = fields.get('AccountSid')
  if (!/^[0-9A-Za-z]{2,64}$/.test(provider_id)) return { items: [], ignored: 'a callback without a message' }
  if (account_sid !== undefined && account_sid !== credentialsOf(connection).account_sid)
    return { items: [], ignored: 'a callback about another account' }
  const status = fields.get('MessageStatus') ?? fields.get('SmsStatus') ?? 'received'
  if (status !== 'received' && status !== 'receiving')
    return { items: receiptsOf(provider_id, status, fields, callback) }
  const inbound = inboundOf(provider_id, fields, connection)
  // START is ignored: a replayed callback must not undo a later STOP
  const stops = fields.get('OptOutType') === 'STOP'
  return inbound === null
    ? { items: [], ignored: 'a message to another number, or not from a phone' }
    : { items: [inbound, ...(stops ? stopOf(provider_id, inbound.from) : [])] }
}

function receiptsOf(
  provider_id: string,
  status: string,
  fields: ReadonlyMap<string, string>,
  { query }: Callback,
): CallbackItem[] {
  const receipt = receiptOf(provider_id, status, fields.get('ErrorCode') ?? '')
  if (receipt === null) return []
  const message_id = query['message']
  const known = isId('msg', message_id ?? '') ? { message_id: message_id! } : {}
  const stopped = receipt.error?.provider_code === stoppedCode ? stopOf(provider_id, fields.get('To') ?? '') : []
  return [{ ...receipt, ...known }, ...stopped]
}

const stopOf = (provider_id: string, from: string): CallbackItem[] =>
  isE164(from) ? [{ kind: 'preference', provider_id, from, marketing: 'stop', everything: true }] : []

/** null for another number or a sender that is no phone. */
function inboundOf(
  provider_id: string,
  fields: ReadonlyMap<string, string>,
  connection: Connection,
): InboundMessage | null {
  const [from, to, body] = [fields.get('From') ?? '', fields.get('To') ?? '', fields.get('Body') ?? '']
  const { messaging_service_sid } = credentialsOf(connection)
  const ours =
    to === connection.identifier ||
    (messaging_service_sid !== undefined && fields.get('MessagingServiceSid') === messaging_service_sid)
  if (!ours || from === '' || from.includes(':')) return null
  const base = {
    kind: 'inbound' as const,
    provider_id,
    from,
    profile_name: fields.get('ProfileName') ?? null,
    reply_to: fields.get('OriginalRepliedMessageSid') ?? null,
  }
  const files = filesOf(fields)
  if (files.length === 0) return { ...base, type: 'text', content: { body } }
  const content = files.map(({ type }, index) => ({ type, ...(index === 0 && body !== '' ? { caption: body } : {}) }))
  return { ...base, type: 'attachments', content, media: files.map(({ reference }, index) => ({ index, reference })) }
}

function filesOf(fields: ReadonlyMap<string, string>): { readonly type: string; readonly reference: MediaReference }[] {
  const total = Number(fields.get('NumMedia') ?? 0)
  const count = Number.isInteger(total) && total > 0 ? Math.min(total, mediaMax) : 0
  return Array.from({ length: count }, (_, at) => {
    const url = fields.get(`MediaUrl${at}`)
    const [kind] = (fields.get(`MediaContentType${at}`) ?? '').split('/')
    return url === undefined
      ? []
      : [{ type: ['image', 'video', 'audio'].includes(kind!) ? kind! : 'document', reference: { url } }]
  }).flat()
}
