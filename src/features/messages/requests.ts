/** Requests that send one message: checked, submitted, and under an Idempotency-Key answered again as they were first. */
import type { Caller } from '../../contract/caller.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { Problem } from '../../contract/problem.ts'
import { canonicalFingerprint, keyedRequest, replayedHeaders, replayedRefusal, type KeyedRequest, type KeyRow } from '../../platform/http/idempotency.ts'
import { checkItem, type ItemDeps } from './ingest/check.ts'
import type { Door } from './ingest/group-commit.ts'
import { refusalOf } from './ingest/refusals.ts'
import type { RequestKeys } from './request-keys.ts'
import type { MessageRow } from './rows.ts'
import { findMessage } from './store.ts'

/** What requests that send are made of. */
export interface SendingDeps extends ItemDeps {
  readonly door: Door
  readonly keys: RequestKeys
}

/** An accepted message; `replayed`: by an earlier request of the same key. */
export interface Sent {
  readonly row: MessageRow
  readonly replayed: boolean
}

/** `POST /v1/messages`. Throws the Problem that refuses the message, which is kept where there is a key (interface: Idempotency-Key). */
export async function sendMessage(deps: SendingDeps, caller: Caller, body: unknown, key: string | undefined): Promise<Sent> {
  if (key === undefined) {
    const sent = await sendOne(deps, caller, body, undefined)
    if (sent instanceof Problem) throw sent
    if (sent === 'known') throw new Error('a message without a key was answered as known')
    return sent
  }
  const request = keyedRequest(caller, 'POST /v1/messages', key, canonicalFingerprint(body))
  return await deps.keys.run({ request, attempt: () => sendOne(deps, caller, body, request), replay: (row) => replayed(deps, caller, row) })
}

async function sendOne(deps: SendingDeps, caller: Caller, body: unknown, request: KeyedRequest | undefined): Promise<Sent | Problem | 'known'> {
  const item = await checkItem(deps, caller, body)
  const outcome = await deps.door.submit(request === undefined ? { items: [item] } : { items: [item], key: request })
  if (outcome.kind === 'known') return 'known'
  const only = outcome.items[0]!
  return only.kind === 'refused' ? refusalOf(only.code) : { row: only.row, replayed: false }
}

async function replayed({ platform }: SendingDeps, caller: Caller, row: KeyRow): Promise<Sent> {
  if (row.message_id !== null) {
    const message = await findMessage(platform.pool, caller, row.message_id)
    if (message !== null) return { row: message, replayed: true }
    throw new Problem('idempotency_key_reused', 'The message of this Idempotency-Key is not kept any more. Use a fresh key.')
  }
  const stored = row.response as { error?: unknown; code?: ErrorCode }
  if (stored.error !== undefined) throw replayedRefusal(stored)
  const problem = refusalOf(stored.code!)
  throw new Problem(problem.code, problem.message, { headers: replayedHeaders })
}
