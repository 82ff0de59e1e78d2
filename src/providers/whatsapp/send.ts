/** Sends messages through the Cloud API. */
import type { Connection, Outcome, OutboundMessage, OnPartAccepted, ProviderTools } from '../provider.ts'
import { nextPart, restLater } from '../outcomes.ts'
import { outcomeOf } from './codes.ts'
import { callGraph, credentialsOf, segment, type GraphAnswer, objectsAt, textAt } from './api.ts'
import { callsOf, isSupported } from './content.ts'

/**
 * WhatsApp has no idempotency keys and no status query: without an answer the outcome is `unknown` until a callback.
 */
export async function send(
  tools: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
  onPartAccepted?: OnPartAccepted,
): Promise<Outcome> {
  if (!isSupported(message.type))
    return {
      kind: 'refused',
      code: 'provider_error',
      provider_code: null,
      message: `WhatsApp does not support messages of type ${message.type}.`,
    }
  const credentials = credentialsOf(connection)
  const path = `${segment(credentials.phone_number_id)}/messages`
  const ids = [...message.already_accepted]
  const calls = callsOf(message)
  let partSignal: AbortSignal | null = signal
  for (const body of calls.slice(ids.length)) {
    const outcome = outcomeOfAnswer(
      await callGraph(tools, credentials, { method: 'POST', path, body }, partSignal),
      message.attempt,
    )
    if (outcome.kind !== 'accepted') return ids.length === 0 ? outcome : { ...outcome, provider_ids: ids }
    ids.push(outcome.provider_ids[0])
    if (ids.length === calls.length) break
    partSignal = await nextPart(onPartAccepted, ids, partSignal)
    if (partSignal === null) return restLater(ids)
  }
  return { kind: 'accepted', provider_ids: ids as [string, ...string[]] }
}

function outcomeOfAnswer(answer: GraphAnswer, attempt: number): Outcome {
  switch (answer.kind) {
    case 'ok': {
      const [sent] = objectsAt(answer.body, 'messages')
      const id = sent === undefined ? undefined : textAt(sent, 'id')
      if (id === undefined || id === '')
        return {
          kind: 'unknown',
          message: "WhatsApp's API answered without a message id, and may have accepted the message.",
        }
      return { kind: 'accepted', provider_ids: [id] }
    }
    case 'error':
      return outcomeOf(answer, attempt)
    case 'unsent':
      return { kind: 'unavailable', provider_code: null, message: answer.message }
    case 'unknown':
      return { kind: 'unknown', message: answer.message }
  }
}
