/** Hands messages to Twilio, and asks what became of those whose hand-over had no answer. */
import type { HttpAnswer } from '../../../../lib/http-client.ts'
import type { Fields } from '../../../../lib/json-fields.ts'
import { isReachable, urlRefusal } from '../../../../lib/public-address.ts'
import type { Connection, OutboundMessage, Outcome, ProviderTools, Receipt } from '../../adapter.ts'
import { callApi, credentialsOf, fieldsOf, outcomeOf } from './api.ts'
import { receiptOf } from './receipts.ts'

/** Twilio's bounds of ValidityPeriod, in seconds. */
const validitySecondsMin = 1
const validitySecondsMax = 36_000
/** How far before its first hand-over a message is looked for: clocks differ. */
const clocksDifferMs = 2 * 60_000
const askedRows = 50
/** Before the text of a trial account. */
const trialPrefix = 'Sent from your Twilio trial account - '

interface Attachment {
  readonly url: string
  readonly caption?: string | null
}

export async function send(tools: ProviderTools, message: OutboundMessage, connection: Connection, signal: AbortSignal): Promise<Outcome> {
  const answer = await callApi(tools, connection, '/Messages.json', signal, formOf(tools, message, connection))
  const sid = fieldsOf(answer)?.['sid']
  if (answer.kind === 'answer' && answer.status >= 200 && answer.status < 300 && isSid(sid)) return { kind: 'accepted', provider_ids: [sid] }
  return outcomeOf(answer)
}

/** Whatever form Twilio gives them: to take an id for none would be to send the message again. */
const isSid = (value: unknown): value is string => typeof value === 'string' && /^[0-9A-Za-z]{2,64}$/.test(value)

function formOf(tools: ProviderTools, message: OutboundMessage, connection: Connection): URLSearchParams {
  const { messaging_service_sid } = credentialsOf(connection)
  const form = new URLSearchParams({ To: message.to })
  if (messaging_service_sid === undefined) form.set('From', message.from)
  else form.set('MessagingServiceSid', messaging_service_sid)
  const body = bodyOf(message)
  if (body !== '') form.set('Body', body)
  if (message.type === 'attachments') for (const { url } of message.content as readonly Attachment[]) form.append('MediaUrl', url)
  // what is billed is what was written
  form.set('SmartEncoded', 'false')
  const callback = callbackOf(tools, message, connection)
  if (callback !== null) form.set('StatusCallback', callback)
  if (message.expires_at !== null) {
    const seconds = Math.floor((Date.parse(message.expires_at) - tools.clock.now()) / 1000)
    form.set('ValidityPeriod', String(Math.min(Math.max(seconds, validitySecondsMin), validitySecondsMax)))
  }
  return form
}

/** Captions are the text of an MMS. */
function bodyOf({ type, content }: OutboundMessage): string {
  if (type !== 'attachments') return (content as { body: string }).body
  return (content as readonly Attachment[]).flatMap(({ caption }) => (caption ? [caption] : [])).join('\n')
}

/**
 * Where Twilio tells what became of the message: it names it, so that one whose hand-over had no answer is found. Twilio itself refuses a message
 * whose address it cannot call; what stands in for it on this machine or network can.
 */
function callbackOf({ url }: ProviderTools, message: OutboundMessage, { webhook_url }: Connection): string | null {
  if (urlRefusal(url, []) !== null) return `${webhook_url}?message=${message.id}`
  const refused = urlRefusal(webhook_url, [])
  return refused === null || (refused === 'not_https' && isReachable(webhook_url)) ? `${webhook_url}?message=${message.id}` : null
}

/**
 * Among the messages to the recipient since the hand-over: the one with this text from this sender. Not filtered by DateSent, which those that wait at Twilio do not
 * have yet. null where several could be it, where the list may not reach back far enough, or where Twilio refuses to list; `unknown` where no answer
 * of Twilio's came, so that it is asked again.
 */
export async function ask(tools: ProviderTools, message: OutboundMessage, connection: Connection, signal: AbortSignal): Promise<Outcome | null> {
  const { messaging_service_sid } = credentialsOf(connection)
  const query = new URLSearchParams({ To: message.to, PageSize: String(askedRows) })
  if (messaging_service_sid === undefined) query.set('From', message.from)
  const answer = await callApi(tools, connection, `/Messages.json?${query}`, signal)
  if (refusesToList(answer)) return null
  const listed = answer.kind === 'answer' && answer.status === 200 ? fieldsOf(answer)?.['messages'] : undefined
  if (!Array.isArray(listed) || !listed.every(isMessage)) return { kind: 'unknown', message: 'Twilio did not list its messages.' }
  const since_ms = (message.handed_over_at === null ? tools.clock.now() : Date.parse(message.handed_over_at)) - clocksDifferMs
  const rows: readonly Fields[] = listed
  const recent = rows.filter((row) => !(createdMs(row) < since_ms))
  const whole = rows.length < askedRows || recent.length < rows.length
  const found = recent.filter((row) => isIt(row, message, messaging_service_sid))
  if (found.length === 0) return whole ? { kind: 'unavailable', provider_code: null, message: 'Twilio has no such message.' } : null
  const sid = found[0]!['sid']
  if (found.length > 1 || !isSid(sid)) return null
  const receipt = receiptOf(sid, String(found[0]!['status']), String(found[0]!['error_code'] ?? ''))
  return { kind: 'accepted', provider_ids: [sid], reports: receipt === null || isAccept(receipt) ? [] : [{ after_ms: 0, report: receipt }] }
}

/** In Twilio's own words: what stands in front of the API may answer, too. */
function refusesToList(answer: HttpAnswer): boolean {
  if (answer.kind !== 'answer' || answer.status < 400 || answer.status >= 500 || answer.status === 408 || answer.status === 429) return false
  return typeof fieldsOf(answer)?.['code'] === 'number'
}

const isAccept = ({ transition }: Receipt): boolean => transition === 'accept'

const isMessage = (row: unknown): row is Fields => typeof row === 'object' && row !== null && isSid((row as Fields)['sid'])

/** NaN where it is not told. */
const createdMs = ({ date_created }: Fields): number => (typeof date_created === 'string' ? Date.parse(date_created) : NaN)

function isIt(row: Fields, message: OutboundMessage, messaging_service_sid: string | undefined): boolean {
  const sender = messaging_service_sid === undefined ? row['from'] === message.from : row['messaging_service_sid'] === messaging_service_sid
  const body = bodyOf(message)
  return sender && row['to'] === message.to && row['direction'] !== 'inbound' && (row['body'] === body || row['body'] === trialPrefix + body)
}
