/** Asks Infobip what became of a message whose hand-over had no answer: its log has our id, for 48 hours. */
import type { HttpAnswer } from '../../../../lib/http-client.ts'
import type { Connection, Outcome, OutboundMessage, ProviderTools } from '../../adapter.ts'
import { isObject, parsedObject } from '../../../../lib/json-fields.ts'
import { callApi, errorCodeOf, statusOf } from './api.ts'
import { outcomeOfStatus } from './codes.ts'

/** null where Infobip refuses to tell; `unknown` where no answer of Infobip's came, so that it is asked again; `unavailable` where it never had the message. */
export async function ask(tools: ProviderTools, message: OutboundMessage, connection: Connection, signal: AbortSignal): Promise<Outcome | null> {
  const answer = await callApi(tools, connection, `/sms/3/logs?${new URLSearchParams({ messageId: message.id, limit: '1' })}`, signal)
  if (refusesToTell(answer)) return null
  const results = answer.kind === 'answer' && answer.status === 200 ? parsedObject(answer.body)?.['results'] : undefined
  if (!Array.isArray(results)) return notTold
  if (results.length === 0) return { kind: 'unavailable', provider_code: null, message: 'Infobip never had the message.' }
  const found: unknown = results.find((result) => isObject(result) && result['messageId'] === message.id)
  const status = isObject(found) ? statusOf(found['status']) : null
  if (status === null) return notTold
  const outcome = outcomeOfStatus(status, message.id)
  // what was unknown by the answer is over in the log, and repeating it under the same id would pass for what Infobip has had already
  return outcome.kind === 'unknown' ? { kind: 'refused', code: 'provider_error', provider_code: String(status.id), message: outcome.message } : outcome
}

const notTold: Outcome = { kind: 'unknown', message: 'Infobip did not tell what became of the message.' }

/** In Infobip's own words, such as to a key that may not read logs: what stands in front of the API may answer, too. */
const refusesToTell = (answer: HttpAnswer): boolean =>
  answer.kind === 'answer' && answer.status >= 400 && answer.status < 500 && answer.status !== 408 && answer.status !== 429 && errorCodeOf(answer) !== null
