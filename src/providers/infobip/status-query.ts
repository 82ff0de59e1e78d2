/** Finds a message by our id in Infobip's log, which covers 48 hours. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import type { StatusQueryResult, Connection, UnconfirmedMessage, ProviderTools } from '../provider.ts'
import { isObject, parsedObject } from '../../lib/json.ts'
import { throttledQuery } from '../outcomes.ts'
import { callApi, errorCodeOf, statusOf } from './api.ts'
import { outcomeOfStatus } from './codes.ts'

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
  const throttled = throttledQuery('Infobip', answer)
  if (throttled !== null) return throttled
  if (isRefusal(answer)) return { kind: 'no_information' }
  const results = answer.kind === 'answer' && answer.status === 200 ? parsedObject(answer.body)?.['results'] : undefined
  if (!Array.isArray(results)) return noAnswer
  if (results.length === 0) return { kind: 'not_found' }
  const found: unknown = results.find((result) => isObject(result) && result['messageId'] === message.id)
  const status = isObject(found) ? statusOf(found['status']) : null
  if (status === null) return noAnswer
  const outcome = outcomeOfStatus(status, message.id)
  if (outcome.kind === 'accepted') return { kind: 'found', provider_ids: outcome.provider_ids }
  // final in the log, although unknown as an answer
  if (outcome.kind === 'unknown')
    return { kind: 'refused', code: 'provider_error', provider_code: String(status.id), message: outcome.message }
  return outcome
}

const noAnswer: StatusQueryResult = { kind: 'no_answer', message: 'Infobip did not return the status of the message.' }

const isRefusal = (answer: HttpAnswer): boolean =>
  answer.kind === 'answer' &&
  answer.status >= 400 &&
  answer.status < 500 &&
  answer.status !== 408 &&
  answer.status !== 429 &&
  errorCodeOf(answer) !== null
