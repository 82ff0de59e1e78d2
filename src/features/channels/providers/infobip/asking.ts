/** Asks Infobip what became of a message whose hand-over had no answer: its log has our id, for 48 hours. */
import type { Connection, Outcome, OutboundMessage, ProviderTools } from '../../adapter.ts'
import { callApi, isFields, parsedFields, statusOf } from './api.ts'
import { outcomeOfStatus } from './codes.ts'

/** null where it cannot tell; `unavailable` where it never had the message. */
export async function ask(tools: ProviderTools, message: OutboundMessage, connection: Connection, signal: AbortSignal): Promise<Outcome | null> {
  const answer = await callApi(tools, connection, `/sms/3/logs?${new URLSearchParams({ messageId: message.id, limit: '1' })}`, signal)
  if (answer.kind !== 'answer' || answer.status !== 200) return null
  const results = parsedFields(answer.body)?.['results']
  if (!Array.isArray(results)) return null
  if (results.length === 0) return { kind: 'unavailable', provider_code: null, message: 'Infobip never had the message.' }
  const found: unknown = results.find((result) => isFields(result) && result['messageId'] === message.id)
  const status = isFields(found) ? statusOf(found['status']) : null
  if (status === null) return null
  const outcome = outcomeOfStatus(status, message.id)
  // what was doubtful in the answer is over in the log, and repeating it under the same id would pass for what Infobip has had already
  return outcome.kind === 'unknown' ? { kind: 'refused', code: 'provider_error', provider_code: String(status.id), message: outcome.message } : outcome
}
