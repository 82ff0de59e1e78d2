/** Asks Twilio what became of a message whose hand-over had no answer: it lists messages, and does not know them by our ids. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import type { Fields } from '../../lib/json-fields.ts'
import type { StatusQueryResult, Connection, FoundMessage, UnconfirmedMessage, ProviderTools } from '../provider.ts'
import { askedTooMuch } from '../foreign-answer.ts'
import { callApi, credentialsOf, fieldsOf, isSid } from './api.ts'
import { receiptOf } from './receipts.ts'
import { bodyOf } from './sending.ts'

/** How far before its first hand-over, and after its last one, a message is looked for: clocks differ. */
const clocksDifferMs = 2 * 60_000
const pageRows = 100
/** The list is read no further: what is not found by then is not told. */
const pagesMax = 5
/** Before the text of a trial account. */
const trialPrefix = 'Sent from your Twilio trial account - '

/**
 * The messages to the recipient with this text from this sender, made while it was handed over, the oldest first. Not filtered by DateSent, which those that wait at
 * Twilio do not have yet. Told by Twilio itself alone: whatever else answers is no answer.
 */
export async function queryStatus(
  tools: ProviderTools,
  message: UnconfirmedMessage,
  connection: Connection,
  signal: AbortSignal,
): Promise<StatusQueryResult> {
  const { messaging_service_sid } = credentialsOf(connection)
  const since_ms =
    (message.first_sent_at === null ? tools.clock.now() : Date.parse(message.first_sent_at)) - clocksDifferMs
  const until_ms = Date.parse(message.last_attempt_ended_at) + clocksDifferMs
  const found: FoundMessage[] = []
  let query: URLSearchParams | null = new URLSearchParams({ To: message.to, PageSize: String(pageRows) })
  if (messaging_service_sid === undefined) query.set('From', message.from)
  for (let pages = 0; query !== null && pages < pagesMax; pages++) {
    const answer = await callApi(tools, connection, `/Messages.json?${query}`, signal)
    const throttled = askedTooMuch('Twilio', answer)
    if (throttled !== null) return throttled
    if (refusesToList(answer)) return { kind: 'no_information' }
    const listed = answer.kind === 'answer' && answer.status === 200 ? fieldsOf(answer) : null
    const rows: unknown = listed?.['messages']
    if (!Array.isArray(rows) || !rows.every(isMessage))
      return { kind: 'no_answer', message: 'Twilio did not list its messages.' }
    const recent = rows.filter((row) => !(createdMs(row) < since_ms))
    found.unshift(
      ...recent
        .filter((row) => !(createdMs(row) > until_ms) && isIt(row, message, messaging_service_sid))
        .map(foundOf)
        .toReversed(),
    )
    if (recent.length < rows.length || listed?.['next_page_uri'] === null) return toldOf(found, { kind: 'not_found' })
    query = queryOf(listed?.['next_page_uri'])
  }
  return toldOf(found, { kind: 'no_information' })
}

function toldOf([first, ...others]: readonly FoundMessage[], otherwise: StatusQueryResult): StatusQueryResult {
  return first === undefined ? otherwise : { kind: 'candidates', found: [first, ...others] }
}

/** Of the next page its query alone counts: nothing else is called than the list. */
function queryOf(uri: unknown): URLSearchParams | null {
  const url = typeof uri === 'string' ? URL.parse(uri, 'https://api.twilio.com') : null
  return url === null || url.search === '' ? null : url.searchParams
}

/** In Twilio's own words: what stands in front of the API may answer, too. */
function refusesToList(answer: HttpAnswer): boolean {
  if (
    answer.kind !== 'answer' ||
    answer.status < 400 ||
    answer.status >= 500 ||
    answer.status === 408 ||
    answer.status === 429
  )
    return false
  return typeof fieldsOf(answer)?.['code'] === 'number'
}

interface Listed extends Fields {
  readonly sid: string
}

const isMessage = (row: unknown): row is Listed =>
  typeof row === 'object' && row !== null && isSid((row as Fields)['sid'])

/** NaN where it is not told. */
const createdMs = ({ date_created }: Fields): number =>
  typeof date_created === 'string' ? Date.parse(date_created) : NaN

function foundOf({ sid, status, error_code }: Listed): FoundMessage {
  const receipt = receiptOf(sid, String(status), String(error_code ?? ''))
  return receipt === null || receipt.transition === 'accept'
    ? { provider_ids: [sid] }
    : { provider_ids: [sid], receipt }
}

function isIt(row: Fields, message: UnconfirmedMessage, messaging_service_sid: string | undefined): boolean {
  const sender =
    messaging_service_sid === undefined
      ? row['from'] === message.from
      : row['messaging_service_sid'] === messaging_service_sid
  const body = bodyOf(message)
  return (
    sender &&
    row['to'] === message.to &&
    row['direction'] !== 'inbound' &&
    (row['body'] === body || row['body'] === trialPrefix + body)
  )
}
