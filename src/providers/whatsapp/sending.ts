/** Hands messages over to the Cloud API. */
import type { Connection, Outcome, OutboundMessage, OnPartAccepted, ProviderTools } from '../provider.ts'
import { nextPart, restLater } from '../rest-later.ts'
import { outcomeOf } from './codes.ts'
import { callGraph, credentialsOf, segment, type GraphAnswer } from './api.ts'
import { objectsAt, textAt } from './json.ts'
import { callsOf, isWritten } from './contents.ts'

/**
 * Hands a message over, one call for each of its parts. WhatsApp knows no idempotency and cannot be asked about a message: where no whole answer came the
 * outcome is `unknown`, and the receipt, which carries our own id, settles it.
 */
export async function send(
  tools: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
  took?: OnPartAccepted,
): Promise<Outcome> {
  if (!isWritten(message.type))
    return {
      kind: 'refused',
      code: 'provider_error',
      provider_code: null,
      message: `WhatsApp takes no messages of the type ${message.type}.`,
    }
  const credentials = credentialsOf(connection)
  const path = `${segment(credentials.phone_number_id)}/messages`
  const ids = [...message.already_accepted]
  const calls = callsOf(message)
  let time: AbortSignal | null = signal
  for (const body of calls.slice(ids.length)) {
    const outcome = outcomeOfAnswer(
      await callGraph(tools, credentials, { method: 'POST', path, body }, time),
      message.attempt,
    )
    if (outcome.kind !== 'accepted') return ids.length === 0 ? outcome : { ...outcome, provider_ids: ids }
    ids.push(outcome.provider_ids[0])
    if (ids.length === calls.length) break
    time = await nextPart(took, ids, time)
    if (time === null) return restLater(ids)
  }
  return { kind: 'accepted', provider_ids: ids as [string, ...string[]] }
}

function outcomeOfAnswer(answer: GraphAnswer, attempt: number): Outcome {
  switch (answer.kind) {
    case 'ok': {
      const [sent] = objectsAt(answer.body, 'messages')
      const id = sent === undefined ? undefined : textAt(sent, 'id')
      if (id === undefined || id === '')
        return { kind: 'unknown', message: "WhatsApp's API took the message and told no id of it." }
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
