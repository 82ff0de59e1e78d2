/** Requests that send up to a hundred messages: each checked and accepted by itself, all of them under one Idempotency-Key. */
import type { Caller } from '../../contract/caller.ts'
import type { Detail, ErrorCode } from '../../contract/errors.ts'
import { limits } from '../../contract/limits.ts'
import { invalid, Problem } from '../../contract/problem.ts'
import { canonicalFingerprint, keyedRequest, replayedRefusal, type KeyedRequest, type KeyRow } from '../../platform/http/idempotency.ts'
import { checkItem, type Item } from './ingest/check.ts'
import { refusalOf } from './ingest/refusals.ts'
import type { ItemOutcome } from './ingest/submission.ts'
import type { SendingDeps } from './requests.ts'
import type { MessageRow } from './rows.ts'
import { findMessages } from './store.ts'

/** One result an item, in their order; `replayed`: of an earlier request of the same key. */
export interface SentBatch {
  readonly results: readonly (MessageRow | Problem)[]
  readonly replayed: boolean
}

/** One item of a batch as its key stores it. */
type StoredItem =
  | { readonly status: 202; readonly message_id: string }
  | { readonly status: number; readonly error: { code: ErrorCode; message: string; param?: string; details?: readonly Detail[] } }

/** `POST /v1/messages/batch`. Throws only for a batch that is not well-formed; whatever its items met is theirs (interface: Messages). */
export async function sendBatch(deps: SendingDeps, caller: Caller, body: unknown, key: string | undefined): Promise<SentBatch> {
  if (key === undefined) return await sendUnkeyed(deps, caller, body)
  const request = keyedRequest(caller, 'POST /v1/messages/batch', key, canonicalFingerprint(body))
  return await deps.keys.run({ request, attempt: () => sendKeyed(deps, caller, body, request), replay: (row) => replayed(deps, caller, row) })
}

async function sendUnkeyed(deps: SendingDeps, caller: Caller, body: unknown): Promise<SentBatch> {
  const checked = await checkAll(deps, caller, body)
  const items = validOf(checked)
  if (items.length === 0) return { results: merged(checked, []), replayed: false }
  // the batch is well-formed, so what the database cannot take now is its items' 503
  const outcome = await deps.door.submit({ items }).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'upstream_unavailable')
      return { kind: 'done' as const, items: items.map((): ItemOutcome => ({ kind: 'refused', code: 'upstream_unavailable' })) }
    throw error
  })
  if (outcome.kind === 'known') throw new Error('a batch without a key was answered as known')
  return { results: merged(checked, outcome.items), replayed: false }
}

async function sendKeyed(deps: SendingDeps, caller: Caller, body: unknown, key: KeyedRequest): Promise<SentBatch | 'known'> {
  const checked = await checkAll(deps, caller, body)
  const outcome = await deps.door.submit({
    items: validOf(checked),
    key,
    storedReply: (outcomes) => ({ status: 207, message_id: null, response: { items: merged(checked, outcomes).map(storedItem) } }),
  })
  return outcome.kind === 'known' ? 'known' : { results: merged(checked, outcome.items), replayed: false }
}

const checkAll = (deps: SendingDeps, caller: Caller, body: unknown): Promise<(Item | Problem)[]> =>
  Promise.all(itemsOf(body).map((item) => checkItem(deps, caller, item).catch(asProblem)))

const validOf = (checked: readonly (Item | Problem)[]): Item[] => checked.filter((result): result is Item => !(result instanceof Problem))

/** The result of every item: what its check refused, or what became of it. */
function merged(checked: readonly (Item | Problem)[], outcomes: readonly ItemOutcome[]): (MessageRow | Problem)[] {
  let next = 0
  return checked.map((result) => {
    if (result instanceof Problem) return result
    const outcome = outcomes[next++]!
    return outcome.kind === 'accepted' ? outcome.row : refusalOf(outcome.code)
  })
}

async function replayed({ platform }: SendingDeps, caller: Caller, row: KeyRow): Promise<SentBatch> {
  if (row.status !== 207) throw replayedRefusal(row.response)
  const { items } = row.response as { items: readonly StoredItem[] }
  const ids = items.flatMap((item) => ('message_id' in item ? [item.message_id] : []))
  const rows = new Map((await findMessages(platform.pool, caller, ids)).map((message) => [message.id, message]))
  const results = items.flatMap((item): (MessageRow | Problem)[] => {
    if ('message_id' in item) return rows.has(item.message_id) ? [rows.get(item.message_id)!] : []
    const { code, message, param, details } = item.error
    return [new Problem(code, message, { ...(param === undefined ? {} : { param }), ...(details === undefined ? {} : { details }) })]
  })
  return { results, replayed: true }
}

function storedItem(result: MessageRow | Problem): StoredItem {
  if (!(result instanceof Problem)) return { status: 202, message_id: result.id }
  const { code, message, param, details } = result
  return { status: result.status, error: { code, message, ...(param === undefined ? {} : { param }), ...(details === undefined ? {} : { details }) } }
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

function itemsOf(body: unknown): unknown[] {
  const items = (body as { messages?: unknown }).messages
  if (items === undefined) throw invalid('messages', 'missing_field', '`messages` is required: an array of 1 to 100 messages.')
  if (!Array.isArray(items)) throw invalid('messages', 'invalid_type', '`messages` must be an array of 1 to 100 messages.')
  if (items.length === 0) throw invalid('messages', 'too_few', '`messages` must have at least 1 message.')
  if (items.length > limits.batch_messages_max)
    throw invalid('messages', 'too_many', '`messages` may have at most 100 messages. Send the rest in further batches.')
  return items
}
