/** Searches Twilio's list for the same recipient, sender and text. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import type { Fields } from '../../lib/json.ts'
import type { StatusQueryResult, Connection, FoundMessage, UnconfirmedMessage, ProviderTools } from '../provider.ts'
import { throttledQuery } from '../outcomes.ts'
import { callApi, credentialsOf, fieldsOf, isSid } from './api.ts'
import { receiptOf } from './codes.ts'
import { bodyOf } from './send.ts'

const clocksDifferMs = 2 * 60_000
const pageRows = 100
const pagesMax = 5
const trialPrefix = 'Sent from your Twilio trial account - '

/** Oldest first. Not by DateSent, which queued messages lack. */
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
    const throttled = throttledQuery('Twilio', answer)
    if (throttled !== null) return throttled
    if (isRefusal(answer)) return { kind: 'no_information' }
    const listed = answer.kind === 'answer' && answer.status === 200 ? fieldsOf(answer) : null
    const rows: unknown = listed?.['messages']
    if (!Array.isArray(rows) || !rows.every(isMessage))
      return { kind: 'no_answer', message: 'Twilio did not list its messages.' }
    const recent = rows.filter((row) => !(createdMs(row) < since_ms))
    found.unshift(
      ...recent
        .filter((row) => !(createdMs(row) > until_ms) && isSameMessage(row, message, messaging_service_sid))
        .map(foundOf)
        .toReversed(),
    )
    if (recent.length < rows.length || listed?.['next_page_uri'] === null) return resultOf(found, { kind: 'not_found' })
    query = queryOf(listed?.['next_page_uri'])
  }
  return resultOf(found, { kind: 'no_information' })
}

function resultOf([first, ...others]: readonly FoundMessage[], otherwise: StatusQueryResult): StatusQueryResult {
  return first === undefined ? otherwise : { kind: 'candidates', found: [first, ...others] }
}

function queryOf(uri: unknown): URLSearchParams | null {
  const url = typeof uri === 'string' ? URL.parse(uri, 'https://api.twilio.com') : null
  return url === null || url.search === '' ? null : url.searchParams
}

function isRefusal(answer: HttpAnswer): boolean {
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

const createdMs = ({ date_created }: Fields): number =>
  typeof date_created === 'string' ? Date.parse(date_created) : NaN

function foundOf({ sid, status, error_code }: Listed): FoundMessage {
  const receipt = receiptOf(sid, String(status), String(error_code ?? ''))
  return receipt === null || receipt.transition === 'accept'
    ? { provider_ids: [sid] }
    : { provider_ids: [sid], receipt }
}

function isSameMessage(row: Fields, message: UnconfirmedMessage, messaging_service_sid: string | undefined): boolean {
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
