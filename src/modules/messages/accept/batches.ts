/** `POST /v1/messages/batch`: up to 100 messages under one Idempotency-Key, each accepted or refused by itself. */
import type { Caller } from '../../../api/caller.ts'
import type { Detail } from '../../../api/errors.ts'
import { limits } from '../../../api/limits.ts'
import { invalid, Problem, type ProblemCode } from '../../../api/problem.ts'
import { TimeSlices } from '../../../lib/concurrency.ts'
import { isObject } from '../../../lib/json.ts'
import { UnfitItem } from '../../../platform/http/body.ts'
import { namingUnknown } from '../../../platform/http/hints.ts'
import { canonicalFingerprint, keyedRequest, replayedRefusal } from '../../../platform/http/idempotency.ts'
import type { KeyedRequest, KeyRow } from '../../../platform/http/idempotency-repository.ts'
import { checkMessage } from './requests.ts'
import type { CheckedMessage } from './row.ts'
import { problemOf } from './refusals.ts'
import type { ItemOutcome, SubmissionItem } from './submission.ts'
import { submissionOf, type SendingDeps } from './requests.ts'
import type { MessageRow } from '../message.ts'
import { findMessages } from '../repository.ts'
import { messageTypes } from '../../../api/resources/channel.ts'
import { SendMessage } from '../../../api/resources/message.ts'

/** `replayed`: of an earlier request with the same key. */
export interface SentBatch {
  readonly results: readonly (MessageRow | Problem)[]
  readonly replayed: boolean
}

/** As stored with the key. */
type StoredItem =
  | { readonly status: 202; readonly message_id: string }
  | {
      readonly status: number
      readonly error: { code: ProblemCode; message: string; param?: string; details?: readonly Detail[] }
    }

/** Throws only for a malformed batch (behaviour: messages 5.3). */
export async function sendBatch(
  deps: SendingDeps,
  caller: Caller,
  body: unknown,
  key: string | undefined,
  onChecked: () => void,
): Promise<SentBatch> {
  if (key === undefined) return await sendUnkeyed(deps, caller, body, onChecked)
  const request = keyedRequest(caller, 'POST /v1/messages/batch', key, canonicalFingerprint(body))
  return await deps.keys.run({
    request,
    attempt: () => sendKeyed(deps, caller, body, request, onChecked),
    replay: (row) => replayed(deps, caller, row),
  })
}

async function sendUnkeyed(
  deps: SendingDeps,
  caller: Caller,
  body: unknown,
  onChecked: () => void,
): Promise<SentBatch> {
  const checked = await checkAll(deps, caller, body)
  onChecked()
  const items = validOf(checked)
  if (items.length === 0) return { results: merged(checked, []), replayed: false }
  const outcomes = await deps.ingest.submit({ ...submissionOf(caller, undefined), items })
  return { results: merged(checked, outcomes.map(resultOf)), replayed: false }
}

async function sendKeyed(
  deps: SendingDeps,
  caller: Caller,
  body: unknown,
  request: KeyedRequest,
  onChecked: () => void,
): Promise<SentBatch | 'known'> {
  const checked = await checkAll(deps, caller, body)
  onChecked()
  const items = validOf(checked)
  const results = (outcomes: readonly ItemOutcome[]) => merged(checked, outcomes.map(resultOf))
  const stored = (outcomes: readonly ItemOutcome[]) => ({
    status: 207,
    response: { items: results(outcomes).map(storedItem) },
  })
  const store = async (outcomes: readonly ItemOutcome[]) =>
    (await deps.keys.storeAnswer(request, stored(outcomes))) ? { results: results(outcomes), replayed: false } : 'known'
  if (items.length === 0) return await store([])
  const outcomes = await deps.ingest.submit({ ...submissionOf(caller, request, stored), items })
  if (outcomes.some(({ kind }) => kind === 'known')) return 'known'
  if (outcomes.every((outcome) => outcome.kind === 'unavailable' && outcome.reason === 'full'))
    return await store(outcomes)
  const undecided = outcomes.find((outcome) => outcome.kind === 'unavailable')
  if (undecided !== undefined) throw problemOf(undecided)
  return { results: results(outcomes), replayed: false }
}

/** In slices: a hundred large messages take longer than other requests may wait. */
async function checkAll(deps: SendingDeps, caller: Caller, body: unknown): Promise<(CheckedMessage | Problem)[]> {
  const slices = new TimeSlices()
  const checks: Promise<CheckedMessage | Problem>[] = []
  for (const item of itemsOf(body)) {
    await slices.next()
    const check = checkMessage(deps, caller, item).catch((error: unknown) => asProblem(namingUnknownOf(item, error)))
    check.catch(() => undefined) // reported by the last statement
    checks.push(check)
  }
  return await Promise.all(checks)
}

const namingUnknownOf = (item: unknown, error: unknown): unknown =>
  isObject(item) && !(item instanceof UnfitItem) ? namingUnknown(error, item, knownFields, otherFieldNames) : error

const validOf = (checked: readonly (CheckedMessage | Problem)[]): SubmissionItem[] =>
  checked.flatMap((result) => (result instanceof Problem ? [] : [{ message: result }]))

function merged(
  checked: readonly (CheckedMessage | Problem)[],
  submitted: readonly (MessageRow | Problem)[],
): (MessageRow | Problem)[] {
  let next = 0
  const small = (result: MessageRow | Problem) =>
    result instanceof Problem ? result.within(limits.item_error_bytes_max) : result
  return checked.map((result) => small(result instanceof Problem ? result : submitted[next++]!))
}

/** An item that cannot be stored now gets its own 503. */
function resultOf(outcome: ItemOutcome): MessageRow | Problem {
  if (outcome.kind === 'accepted') return outcome.row
  const problem = problemOf(outcome)
  if (outcome.kind !== 'unavailable') return problem
  if (outcome.reason === 'uncertain') throw problem
  return new Problem(problem.code)
}

async function replayed({ platform }: SendingDeps, caller: Caller, row: KeyRow): Promise<SentBatch> {
  if (row.status !== 207) throw replayedRefusal(row.response)
  const { items } = row.response as { items: readonly StoredItem[] }
  const ids = items.flatMap((item) => ('message_id' in item ? [item.message_id] : []))
  const rows = new Map((await findMessages(platform.pool, caller, ids)).map((message) => [message.id, message]))
  const results = items.flatMap((item): (MessageRow | Problem)[] => {
    if ('message_id' in item) return rows.has(item.message_id) ? [rows.get(item.message_id)!] : []
    const { code, message, param, details } = item.error
    return [
      new Problem(code, message, {
        ...(param === undefined ? {} : { param }),
        ...(details === undefined ? {} : { details }),
      }),
    ]
  })
  return { results, replayed: true }
}

function storedItem(result: MessageRow | Problem): StoredItem {
  if (!(result instanceof Problem)) return { status: 202, message_id: result.id }
  const { code, message, param, details } = result
  return {
    status: result.status,
    error: { code, message, ...(param === undefined ? {} : { param }), ...(details === undefined ? {} : { details }) },
  }
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

function itemsOf(body: unknown): unknown[] {
  const items = (body as { messages?: unknown }).messages
  if (items === undefined)
    throw invalid('messages', 'missing_field', '`messages` is required: an array of 1 to 100 messages.')
  if (!Array.isArray(items))
    throw invalid('messages', 'invalid_type', '`messages` must be an array of 1 to 100 messages.')
  if (items.length === 0) throw invalid('messages', 'too_few', '`messages` must have at least 1 message.')
  if (items.length > limits.batch_messages_max)
    throw invalid('messages', 'too_many', '`messages` may have at most 100 messages. Send the rest in further batches.')
  return items
}

const knownFields: ReadonlySet<string> = new Set([...Object.keys(SendMessage.properties), ...messageTypes])

/** Field names of other services, in lower-case letters and digits (behaviour: conventions 4.4). */
export const otherFieldNames: Readonly<Record<string, string>> = {
  from: 'channel',
  sender: 'channel',
  channelid: 'channel',
  recipient: 'to',
  phone: 'to',
  phonenumber: 'to',
  destination: 'to',
  body: 'text.body',
  message: 'text.body',
  content: 'text.body',
  mediaurl: 'image.link',
  externalid: 'reference',
}
