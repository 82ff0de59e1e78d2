/** Asks Infobip what became of a message whose hand-over had no answer: its log has our id, for 48 hours. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import type { StatusQueryResult, Connection, UnconfirmedMessage, ProviderTools } from '../provider.ts'
import { isObject, parsedObject } from '../../lib/json-fields.ts'
import { askedTooMuch } from '../foreign-answer.ts'
import { callApi, errorCodeOf, statusOf } from './api.ts'
import { outcomeOfStatus } from './codes.ts'

/** Told by Infobip itself alone: whatever else answers is no answer. */
export async function queryStatus(
  tools: ProviderTools,
  message: UnconfirmedMessage,
  connection: Connection,
  signal: AbortSignal,
): Promise<StatusQueryResult> {
  const answer = await callApi(
    tools,
    connection,
    `/sms/3/logs?${new URLSearchParams({ messageId: message.id, limit: '1' })}`,
    signal,
  )
  const throttled = askedTooMuch('Infobip', answer)
  if (throttled !== null) return throttled
  if (refusesToTell(answer)) return { kind: 'no_information' }
  const results = answer.kind === 'answer' && answer.status === 200 ? parsedObject(answer.body)?.['results'] : undefined
  if (!Array.isArray(results)) return noAnswer
  if (results.length === 0) return { kind: 'not_found' }
  const found: unknown = results.find((result) => isObject(result) && result['messageId'] === message.id)
  const status = isObject(found) ? statusOf(found['status']) : null
  if (status === null) return noAnswer
  const outcome = outcomeOfStatus(status, message.id)
  if (outcome.kind === 'accepted') return { kind: 'found', provider_ids: outcome.provider_ids }
  // what was unknown by the answer is over in the log, and repeating it under the same id would pass for what Infobip has had already
  if (outcome.kind === 'unknown')
    return { kind: 'refused', code: 'provider_error', provider_code: String(status.id), message: outcome.message }
  return outcome
}

const noAnswer: StatusQueryResult = { kind: 'no_answer', message: 'Infobip did not tell what became of the message.' }

/** In Infobip's own words, such as to a key that may not read logs: what stands in front of the API may answer, too. */
const refusesToTell = (answer: HttpAnswer): boolean =>
  answer.kind === 'answer' &&
  answer.status >= 400 &&
  answer.status < 500 &&
  answer.status !== 408 &&
  answer.status !== 429 &&
  errorCodeOf(answer) !== null
