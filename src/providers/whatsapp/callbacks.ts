/** WhatsApp callbacks: the handshake, and signed bodies of up to a thousand changes. */
import { hmacHex, sameText } from '../../lib/hmac.ts'
import { isoTime } from '../../lib/clock.ts'
import type {
  CallbackResponse,
  Callback,
  Connection,
  CallbackResult,
  DeliveryReceipt,
  CallbackItem,
} from '../provider.ts'
import { failureOf, marketingStopped } from './codes.ts'
import { credentialsOf, graphErrorOf, type Credentials, idAt, objectAt, objectsAt, textAt } from './api.ts'
import { inboundOf, partyOf } from './inbound.ts'
import { parsedObject, type Fields } from '../../lib/json.ts'
import { messageOfTag } from './content.ts'

export function handshake({ query }: Callback, connection: Connection): CallbackResponse | null {
  const { verify_token } = credentialsOf(connection)
  const isVerified = verify_token !== undefined && sameText(query['hub.verify_token'] ?? '', verify_token)
  if (query['hub.mode'] !== 'subscribe' || !isVerified) return null
  return { content_type: 'text/plain; charset=utf-8', body: query['hub.challenge'] ?? '' }
}

export function receiveCallback(callback: Callback, connection: Connection): CallbackResult | null {
  const credentials = credentialsOf(connection)
  const signature = callback.headers['x-hub-signature-256'] ?? ''
  if (
    typeof credentials.app_secret !== 'string' ||
    !sameText(signature, `sha256=${hmacHex(credentials.app_secret, callback.body)}`)
  )
    return null
  const reading: Reading = { credentials, items: [], ignored: new Set() }
  const body = parsedObject(callback.body)
  if (body?.['object'] !== 'whatsapp_business_account')
    reading.ignored.add('A signed callback is not about a WhatsApp Business account.')
  else
    for (const entry of objectsAt(body, 'entry'))
      for (const change of objectsAt(entry, 'changes')) readChange(reading, textAt(entry, 'id'), change)
  if (reading.ignored.size === 0) return { items: reading.items }
  return { items: reading.items, ignored: [...reading.ignored].slice(0, ignoredMax).join(' ') }
}

const ignoredMax = 20

interface Reading {
  readonly credentials: Credentials
  readonly items: CallbackItem[]
  /** For the log: names and codes only, no personal data. */
  readonly ignored: Set<string>
}

/** Meta's own name; anything else may be personal data. */
const wordAt = (value: Fields, field: string): string =>
  /^[a-z][a-z_]{0,59}$/i.exec(textAt(value, field) ?? '')?.[0] ?? `an unknown ${field}`

const templateFields: ReadonlySet<string> = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
])

function readChange(reading: Reading, account: string | undefined, change: Fields): void {
  const [field, value] = [wordAt(change, 'field'), objectAt(change, 'value')]
  if (value === undefined) return void reading.ignored.add(`A change of ${field} has no value.`)
  if (field === 'messages' || field === 'user_preferences') {
    const number = textAt(objectAt(value, 'metadata') ?? {}, 'phone_number_id')
    if (number !== reading.credentials.phone_number_id)
      return void reading.ignored.add('A change is about another number.')
    if (field === 'messages') readMessages(reading, value)
    else readPreferences(reading, value)
    return
  }
  if (account !== reading.credentials.business_account_id)
    return void reading.ignored.add(`A change of ${field} is about another account.`)
  if (templateFields.has(field)) return readTemplates(reading)
  if (field === 'account_update') readAccount(reading, value)
  else reading.ignored.add(`WhatsApp reports ${field}: ${wordAt(value, 'event')}.`)
}

function readMessages(reading: Reading, value: Fields): void {
  const profiles = objectsAt(value, 'contacts')
  for (const message of objectsAt(value, 'messages')) {
    const inbound = inboundOf(message, profiles)
    if (inbound === null) reading.ignored.add('A message has no sender or no id.')
    else reading.items.push(inbound)
  }
  for (const status of objectsAt(value, 'statuses')) readStatus(reading, status)
  for (const error of objectsAt(value, 'errors'))
    reading.ignored.add(`WhatsApp reports an error: ${graphErrorOf(error)?.code ?? 'an unknown code'}.`)
}

/** `played`: a voice message was listened to. */
const transitions: Readonly<Record<string, DeliveryReceipt['transition']>> = {
  sent: 'accept',
  delivered: 'deliver',
  read: 'open',
  played: 'open',
  failed: 'fail',
}

function readStatus({ items, ignored }: Reading, status: Fields): void {
  const [provider_id, name] = [idAt(status, 'id'), textAt(status, 'status') ?? '']
  const transition = Object.hasOwn(transitions, name) ? transitions[name] : undefined
  if (provider_id === undefined || transition === undefined)
    return void ignored.add(`A status changes nothing: ${wordAt(status, 'status')}.`)
  const error = transition === 'fail' ? graphErrorOf(objectsAt(status, 'errors')[0]) : null
  items.push({
    kind: 'delivery_receipt',
    provider_id,
    transition,
    ...messageOfTag(textAt(status, 'biz_opaque_callback_data')),
    ...(transition === 'fail' ? { error: error === null ? unknownFailure : failureOf(error) } : {}),
  })
  if (error?.code !== marketingStopped) return
  const from = partyOf(textAt(status, 'recipient_id'), textAt(status, 'recipient_user_id'))
  const occurred_at = timeOf(status)
  if (from !== null)
    items.push({
      kind: 'preference',
      provider_id,
      from,
      marketing: 'stop',
      ...(occurred_at === null ? {} : { occurred_at }),
    })
}

const unknownFailure = {
  code: 'provider_error',
  message: 'WhatsApp could not deliver the message and gives no reason.',
  provider_code: null,
} as const

/** Seconds or (also seen) milliseconds; null if it is not a time. */
function timeOf(status: Fields): string | null {
  const timestamp = Number(status['timestamp'])
  if (!Number.isFinite(timestamp) || timestamp <= 0 || timestamp > 8e15) return null
  return isoTime(timestamp > 1e11 ? timestamp : timestamp * 1000)
}

function readPreferences({ items, ignored }: Reading, value: Fields): void {
  for (const one of objectsAt(value, 'user_preferences')) {
    const from = partyOf(textAt(one, 'wa_id'), textAt(one, 'user_id'))
    const marketing = textAt(one, 'value')
    const occurred_at = timeOf(one)
    if (
      from === null ||
      textAt(one, 'category') !== 'marketing_messages' ||
      (marketing !== 'stop' && marketing !== 'resume')
    )
      ignored.add('A preference is unknown.')
    else {
      const provider_id = `preference ${textAt(one, 'timestamp') ?? ''} ${from}`
      items.push({
        kind: 'preference',
        provider_id,
        from,
        marketing,
        ...(occurred_at === null ? {} : { occurred_at }),
      })
    }
  }
}

function readTemplates({ items }: Reading): void {
  if (!items.some(({ kind }) => kind === 'templates')) items.push({ kind: 'templates', provider_id: 'templates' })
}

const disconnectEvents: Readonly<Record<string, string>> = {
  ACCOUNT_DELETED: 'The WhatsApp Business account was deleted.',
  ACCOUNT_OFFBOARDED: 'The WhatsApp Business account was offboarded.',
  PARTNER_APP_UNINSTALLED: 'The app was removed from the WhatsApp Business account.',
}
const connectEvents: Readonly<Record<string, string>> = {
  ACCOUNT_RECONNECTED: 'The WhatsApp Business account is connected again.',
}

function readAccount({ items, ignored }: Reading, value: Fields): void {
  const event = textAt(value, 'event') ?? ''
  const ban = textAt(objectAt(value, 'ban_info') ?? {}, 'waba_ban_state')
  const report = (connected: boolean, message: string) =>
    void items.push({ kind: 'connection_status', provider_id: `account ${event}`, connected, message })
  if (ban === 'DISABLE')
    return report(false, 'The WhatsApp Business account was disabled. See WhatsApp Manager for the reason.')
  if (ban === 'REINSTATE') return report(true, 'The WhatsApp Business account was reinstated.')
  if (Object.hasOwn(disconnectEvents, event)) return report(false, disconnectEvents[event]!)
  if (Object.hasOwn(connectEvents, event)) return report(true, connectEvents[event]!)
  ignored.add(`WhatsApp reports an account event: ${wordAt(value, 'event')}.`)
}
