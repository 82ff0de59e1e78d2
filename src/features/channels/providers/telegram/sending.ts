/** Hands messages to Telegram. Once a part of one has gone out, no other outcome repeats it. */
import type { Connection, OutboundMessage, Outcome, ProviderTools, Receipt } from '../../adapter.ts'
import { callApi } from './api.ts'
import { stepsOf, type Step } from './contents.ts'
import { outcomeOf } from './codes.ts'
import { isObject } from '../../../../lib/json-fields.ts'
import { integerAt, objectAt } from './json.ts'

/** How long a part behind the first waits where Telegram is asked too much. */
const partWaitMaxMs = 15_000

type Taken = { readonly kind: 'taken'; readonly ids: readonly string[] }

export async function send(tools: ProviderTools, message: OutboundMessage, connection: Connection, signal: AbortSignal): Promise<Outcome> {
  const ids: string[] = []
  for (const step of stepsOf(message)) {
    const taken = ids.length === 0 ? await take(tools, connection, step, signal) : await takeInTime(tools, connection, step, signal)
    if (taken.kind !== 'taken') return ids.length === 0 ? taken : brokenOff(message, ids, taken)
    ids.push(...taken.ids)
  }
  const [first, ...others] = ids
  if (first === undefined) return { kind: 'refused', code: 'provider_error', provider_code: null, message: `Telegram carries no ${message.type}.` }
  return { kind: 'accepted', provider_ids: [first, ...others] }
}

async function take(tools: ProviderTools, connection: Connection, { method, parameters }: Step, signal: AbortSignal): Promise<Taken | Outcome> {
  const answer = await callApi(tools, connection, method, parameters, signal)
  if (answer.kind !== 'ok') return outcomeOf(answer)
  const ids = (Array.isArray(answer.result) ? answer.result : [answer.result]).map((message) => idOf(message, String(parameters['chat_id'])))
  return ids.length > 0 && ids.every((id) => id !== null)
    ? { kind: 'taken', ids }
    : { kind: 'unknown', message: 'Telegram took the message with an answer that names none.' }
}

/** Ids of messages are unique within their chat, which is the recipient where none is told. */
function idOf(message: unknown, to: string): string | null {
  const id = isObject(message) ? integerAt(message, 'message_id') : null
  const chat = isObject(message) ? objectAt(message, 'chat') : null
  return id === null ? null : `${(chat === null ? null : integerAt(chat, 'id')) ?? to}:${id}`
}

/** The message cannot be repeated without sending its first part twice: throttling is waited out here, once. */
async function takeInTime(tools: ProviderTools, connection: Connection, step: Step, signal: AbortSignal): Promise<Taken | Outcome> {
  const taken = await take(tools, connection, step, signal)
  if (taken.kind !== 'throttled' || (taken.retry_after_ms ?? 0) > partWaitMaxMs) return taken
  await tools.clock.sleep(taken.retry_after_ms ?? 1000, signal)
  return await take(tools, connection, step, signal)
}

/** Some parts went out and one did not: the message has failed, and is not sent again. */
function brokenOff({ id }: OutboundMessage, sent: readonly string[], outcome: Outcome): Outcome {
  const provider_id = `unsent:${id}`
  const [code, provider_code, said] =
    outcome.kind === 'refused'
      ? [outcome.code, outcome.provider_code, outcome.message]
      : ['provider_error' as const, 'provider_code' in outcome ? outcome.provider_code : null, 'message' in outcome ? outcome.message : '']
  const error = { code, message: `Only ${sent.length} of its parts went out: ${said}`, provider_code }
  const report: Receipt = { kind: 'receipt', provider_id, transition: 'fail', error }
  return { kind: 'accepted', provider_ids: [sent[0]!, ...sent.slice(1), provider_id], reports: [{ after_ms: 0, report }] }
}
