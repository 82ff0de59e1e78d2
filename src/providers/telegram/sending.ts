/** Hands messages to Telegram, one call after the other: what was taken of one stays taken, and the rest alone is repeated. */
import type { Connection, OutboundMessage, Outcome, OnPartAccepted, ProviderTools } from '../provider.ts'
import { nextPart, restLater } from '../rest-later.ts'
import { callApi } from './api.ts'
import { stepsOf, type Step } from './contents.ts'
import { outcomeOf } from './codes.ts'
import { isObject } from '../../lib/json-fields.ts'
import { integerAt, objectAt } from './json.ts'

type Taken = { readonly kind: 'taken'; readonly ids: readonly string[] }

export async function send(
  tools: ProviderTools,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
  took?: OnPartAccepted,
): Promise<Outcome> {
  const ids = [...message.already_accepted]
  const steps = stepsLeft(message)
  let time: AbortSignal | null = signal
  for (const [index, step] of steps.entries()) {
    const taken = await take(tools, connection, step, time)
    if (taken.kind !== 'taken')
      return ids.length === 0 || taken.kind === 'accepted' ? taken : { ...taken, provider_ids: ids }
    ids.push(...taken.ids)
    if (index === steps.length - 1) break
    time = await nextPart(took, ids, time)
    if (time === null) return restLater(ids)
  }
  const [first, ...others] = ids
  if (first === undefined)
    return {
      kind: 'refused',
      code: 'provider_error',
      provider_code: null,
      message: `Telegram carries no ${message.type}.`,
    }
  return { kind: 'accepted', provider_ids: [first, ...others] }
}

/** The calls that are left of a message: an album is taken whole, or not at all. */
function stepsLeft(message: OutboundMessage): Step[] {
  let taken = message.already_accepted.length
  return stepsOf(message).filter(({ messages = 1 }) => {
    const isLeft = taken <= 0
    taken -= messages
    return isLeft
  })
}

async function take(
  tools: ProviderTools,
  connection: Connection,
  { method, parameters }: Step,
  signal: AbortSignal,
): Promise<Taken | Outcome> {
  const answer = await callApi(tools, connection, method, parameters, signal)
  if (answer.kind !== 'ok') return outcomeOf(answer)
  const ids = (Array.isArray(answer.result) ? answer.result : [answer.result]).map((message) =>
    idOf(message, String(parameters['chat_id'])),
  )
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
