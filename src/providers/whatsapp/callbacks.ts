/** What WhatsApp calls back with: handshakes, and signed bodies of up to a thousand changes, in any order and as often as it likes. */
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
import { credentialsOf, graphErrorOf, type Credentials } from './api.ts'
import { inboundOf, partyOf } from './inbound.ts'
import { parsedObject, type Fields } from '../../lib/json-fields.ts'
import { idAt, objectAt, objectsAt, textAt } from './json.ts'
import { namedBy } from './tags.ts'

/** The answer to Meta's GET; null: it does not know our word. */
export function handshake({ query }: Callback, connection: Connection): CallbackResponse | null {
  const { verify_token } = credentialsOf(connection)
  const known = verify_token !== undefined && sameText(query['hub.verify_token'] ?? '', verify_token)
  if (query['hub.mode'] !== 'subscribe' || !known) return null
  return { content_type: 'text/plain; charset=utf-8', body: query['hub.challenge'] ?? '' }
}

/** null: the signature over the raw body is wrong. */
export function receiveCallback(callback: Callback, connection: Connection): CallbackResult | null {
  const credentials = credentialsOf(connection)
  const signature = callback.headers['x-hub-signature-256'] ?? ''
  if (
    typeof credentials.app_secret !== 'string' ||
    !sameText(signature, `sha256=${hmacHex(credentials.app_secret, callback.body)}`)
  )
    return null
  const reading: Reading = { credentials, reports: [], remarks: new Set() }
  // signed nonsense: acknowledged, kept raw, and nothing to apply
  const body = parsedObject(callback.body)
  if (body?.['object'] !== 'whatsapp_business_account')
    reading.remarks.add('A signed callback is none of a WhatsApp Business account.')
  else
    for (const entry of objectsAt(body, 'entry'))
      for (const change of objectsAt(entry, 'changes')) readChange(reading, textAt(entry, 'id'), change)
  if (reading.remarks.size === 0) return { items: reading.reports }
  return { items: reading.reports, ignored: [...reading.remarks].slice(0, remarksMax).join(' ') }
}

const remarksMax = 20

interface Reading {
  readonly credentials: Credentials
  readonly reports: CallbackItem[]
  /** Each once. They are logged: names of fields, events and codes alone, never what people wrote or who they are. */
  readonly remarks: Set<string>
}

/** A name or an event of Meta's, or that it is none: whatever else stands there may be of a person. */
const wordAt = (value: Fields, field: string): string =>
  /^[a-z][a-z_]{0,59}$/i.exec(textAt(value, field) ?? '')?.[0] ?? `an unknown ${field}`

/** Fields that tell of templates. */
const templateFields: ReadonlySet<string> = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
])

function readChange(reading: Reading, account: string | undefined, change: Fields): void {
  const [field, value] = [wordAt(change, 'field'), objectAt(change, 'value')]
  if (value === undefined) return void reading.remarks.add(`A change of ${field} has no value.`)
  if (field === 'messages' || field === 'user_preferences') {
    const number = textAt(objectAt(value, 'metadata') ?? {}, 'phone_number_id')
    if (number !== reading.credentials.phone_number_id)
      return void reading.remarks.add('A change is about another number.')
    if (field === 'messages') readMessages(reading, value)
    else readPreferences(reading, value)
    return
  }
  if (account !== reading.credentials.business_account_id)
    return void reading.remarks.add(`A change of ${field} is about another account.`)
  if (templateFields.has(field)) return readTemplates(reading)
  if (field === 'account_update') readAccount(reading, value)
  else reading.remarks.add(`WhatsApp tells of ${field}: ${wordAt(value, 'event')}.`)
}

function readMessages(reading: Reading, value: Fields): void {
  const profiles = objectsAt(value, 'contacts')
  for (const message of objectsAt(value, 'messages')) {
    const inbound = inboundOf(message, profiles)
    if (inbound === null) reading.remarks.add('A message tells no sender or no id.')
    else reading.reports.push(inbound)
  }
  for (const status of objectsAt(value, 'statuses')) readStatus(reading, status)
  for (const error of objectsAt(value, 'errors'))
    reading.remarks.add(`WhatsApp tells of an error: ${graphErrorOf(error)?.code ?? 'an unknown code'}.`)
}

/** `played` is a voice message that was heard. What was deleted stays delivered. */
const transitions: Readonly<Record<string, DeliveryReceipt['transition']>> = {
  sent: 'accept',
  delivered: 'deliver',
  read: 'open',
  played: 'open',
  failed: 'fail',
}

function readStatus({ reports, remarks }: Reading, status: Fields): void {
  const [provider_id, said] = [idAt(status, 'id'), textAt(status, 'status') ?? '']
  const transition = Object.hasOwn(transitions, said) ? transitions[said] : undefined
  if (provider_id === undefined || transition === undefined)
    return void remarks.add(`A status changes nothing: ${wordAt(status, 'status')}.`)
  const error = transition === 'fail' ? graphErrorOf(objectsAt(status, 'errors')[0]) : null
  reports.push({
    kind: 'delivery_receipt',
    provider_id,
    transition,
    ...namedBy(textAt(status, 'biz_opaque_callback_data')),
    ...(transition === 'fail' ? { error: error === null ? unnamed : failureOf(error) } : {}),
  })
  if (error?.code !== marketingStopped) return
  const from = partyOf(textAt(status, 'recipient_id'), textAt(status, 'recipient_user_id'))
  const occurred_at = timeOf(status)
  if (from !== null)
    reports.push({
      kind: 'preference',
      provider_id,
      from,
      marketing: 'stop',
      ...(occurred_at === null ? {} : { occurred_at }),
    })
}

const unnamed = {
  code: 'provider_error',
  message: 'WhatsApp could not deliver it, and gives no reason.',
  provider_code: null,
} as const

/** Seconds since 1970, or milliseconds, which have come as well; null where it is no time. */
function timeOf(status: Fields): string | null {
  const told = Number(status['timestamp'])
  if (!Number.isFinite(told) || told <= 0 || told > 8e15) return null
  return isoTime(told > 1e11 ? told : told * 1000)
}

function readPreferences({ reports, remarks }: Reading, value: Fields): void {
  for (const one of objectsAt(value, 'user_preferences')) {
    const from = partyOf(textAt(one, 'wa_id'), textAt(one, 'user_id'))
    const said = textAt(one, 'value')
    const occurred_at = timeOf(one)
    if (from === null || textAt(one, 'category') !== 'marketing_messages' || (said !== 'stop' && said !== 'resume'))
      remarks.add('A preference is not known here.')
    else {
      const provider_id = `preference ${textAt(one, 'timestamp') ?? ''} ${from}`
      reports.push({
        kind: 'preference',
        provider_id,
        from,
        marketing: said,
        ...(occurred_at === null ? {} : { occurred_at }),
      })
    }
  }
}

/** However many of them changed, they are read once. */
function readTemplates({ reports }: Reading): void {
  if (!reports.some(({ kind }) => kind === 'templates')) reports.push({ kind: 'templates', provider_id: 'templates' })
}

/** Events after which nothing can be sent, and those after which it can again. */
const ends: Readonly<Record<string, string>> = {
  ACCOUNT_DELETED: 'The WhatsApp Business account was deleted.',
  ACCOUNT_OFFBOARDED: 'The WhatsApp Business account was offboarded.',
  PARTNER_APP_UNINSTALLED: 'The app was removed from the WhatsApp Business account.',
}
const begins: Readonly<Record<string, string>> = {
  ACCOUNT_RECONNECTED: 'The WhatsApp Business account is connected again.',
}

function readAccount({ reports, remarks }: Reading, value: Fields): void {
  const event = textAt(value, 'event') ?? ''
  const ban = textAt(objectAt(value, 'ban_info') ?? {}, 'waba_ban_state')
  const link = (connected: boolean, message: string) =>
    void reports.push({ kind: 'connection_status', provider_id: `account ${event}`, connected, message })
  if (ban === 'DISABLE') return link(false, 'The WhatsApp Business account was disabled. Read why in WhatsApp Manager.')
  if (ban === 'REINSTATE') return link(true, 'The WhatsApp Business account was reinstated.')
  if (Object.hasOwn(ends, event)) return link(false, ends[event]!)
  if (Object.hasOwn(begins, event)) return link(true, begins[event]!)
  remarks.add(`WhatsApp tells of the account: ${wordAt(value, 'event')}.`)
}
