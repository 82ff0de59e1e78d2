/** Sends a message to Telegram, one call after the other. */
import type { Connection, OutboundMessage, Outcome, OnPartAccepted, ProviderTools } from '../provider.ts'
import { nextPart, restLater } from '../outcomes.ts'
import { callApi, integerAt, objectAt } from './api.ts'
import { stepsOf, type Step } from './content.ts'
import { outcomeOf } from './codes.ts'
import { isObject } from '../../lib/json.ts'

type Created = { readonly kind: 'created'; readonly ids: readonly string[] }

export async function send(
  tools: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
  onPartAccepted?: OnPartAccepted,
): Promise<Outcome> {
  const ids = [...message.already_accepted]
  const steps = remainingSteps(message)
  let partSignal: AbortSignal | null = signal
  for (const [index, step] of steps.entries()) {
    const created = await call(tools, connection, step, partSignal)
    if (created.kind !== 'created')
      return ids.length === 0 || created.kind === 'accepted' ? created : { ...created, provider_ids: ids }
    ids.push(...created.ids)
    if (index === steps.length - 1) break
    partSignal = await nextPart(onPartAccepted, ids, partSignal)
    if (partSignal === null) return restLater(ids)
  }
  const [first, ...others] = ids
  if (first === undefined)
    return {
      kind: 'refused',
      code: 'provider_error',
      provider_code: null,
      message: `Telegram does not support messages of type ${message.type}.`,
    }
  return { kind: 'accepted', provider_ids: [first, ...others] }
}

function remainingSteps(message: OutboundMessage): Step[] {
  let done = message.already_accepted.length
  return stepsOf(message).filter(({ messages = 1 }) => {
    const isLeft = done <= 0
    done -= messages
    return isLeft
  })
}

async function call(
  tools: ProviderTools,
  connection: Connection,
  { method, parameters }: Step,
  signal: AbortSignal,
): Promise<Created | Outcome> {
  const answer = await callApi(tools, connection, method, parameters, signal)
  if (answer.kind !== 'ok') return outcomeOf(answer)
  const ids = (Array.isArray(answer.result) ? answer.result : [answer.result]).map((message) =>
    idOf(message, String(parameters['chat_id'])),
  )
  return ids.length > 0 && ids.every((id) => id !== null)
    ? { kind: 'created', ids }
    : { kind: 'unknown', message: 'Telegram answered without a message id, and may have accepted the message.' }
}

function idOf(message: unknown, to: string): string | null {
  const id = isObject(message) ? integerAt(message, 'message_id') : null
  const chat = isObject(message) ? objectAt(message, 'chat') : null
  return id === null ? null : `${(chat === null ? null : integerAt(chat, 'id')) ?? to}:${id}`
}
