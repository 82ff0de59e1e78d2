/** What messages mean: sending alone and in batches through the accepting door, reading, cancelling, and what an opt-out does to those that wait. */
import type { Caller, Tenant } from '../../contract/caller.ts'
import { validateInboundContent } from '../../contract/content/validate.ts'
import type { Detail, ErrorCode } from '../../contract/errors.ts'
import { isId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import { invalid, missing, Problem } from '../../contract/problem.ts'
import { errorBody } from '../../platform/http/envelope.ts'
import { inboundTypes, messageTypes } from '../../contract/resources/channel.ts'
import type { Message, MessageHistoryItem } from '../../contract/resources/message.ts'
import { acceptedObject, messageObject } from './present.ts'
import type { MessageRow } from './rows.ts'
import { isoTime } from '../../lib/clock.ts'
import type { Page } from '../../platform/http/paging.ts'
import {
  canonicalFingerprint,
  findKey,
  inFlight,
  isStoredRefusal,
  replay,
  replayedHeaders,
  sameRequest,
  storedRefusal,
  type KeyedRequest,
  type KeyRow,
} from '../../platform/http/idempotency.ts'
import { reply, type Reply } from '../../platform/http/route.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BillingService } from '../billing/service.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ContactService } from '../contacts/service.ts'
import { storeReplies, takeKeys } from './ingest/locking-store.ts'
import type { Door } from './ingest/group-commit.ts'
import type { ItemOutcome } from './ingest/submission.ts'
import { historyOf } from './queries/history.ts'
import { storeInbound } from './inbound/inbound.ts'
import { checkItem, checkRecipient, type Item } from './ingest/check.ts'
import type { Followers } from './transitions/followers.ts'
import { applyTransitions } from './transitions/transitions.ts'
import { endJobs } from './dispatch/completer.ts'
import type { QueueBound } from './ingest/queue-bound.ts'
import { refusalOf } from './ingest/refusals.ts'
import * as store from './store.ts'
import type { Withdrawing } from './dispatch/unpersisted-sends.ts'

export interface MessageDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly contacts: ContactService
  readonly billing: BillingService
  readonly door: Door
  readonly queues: QueueBound
  readonly withdraw: Withdrawing['withdraw']
  readonly followers: Followers
}

export interface InboundRequest {
  channel: string
  from: string
  type?: string
  profile_name?: string | null
  reply_to?: string | null
  [content: string]: unknown
}

export type MessageService = ReturnType<typeof messageService>

/** One item of a batch as its key stores it. */
type StoredItem =
  | { readonly status: 202; readonly message_id: string }
  | { readonly status: number; readonly error: { code: ErrorCode; message: string; param?: string; details?: readonly Detail[] } }

export function messageService(deps: MessageDeps) {
  const { platform, channels, door } = deps
  const { pool, clock } = platform
  const running = inFlight()

  /** `POST /v1/messages`. Without a key one pass through the door; with one, the door also keeps the key. */
  async function send(caller: Caller, body: unknown, key: string | undefined): Promise<Reply> {
    const answer =
      key === undefined
        ? await sendOne(caller, body, undefined)
        : await keyed(caller, 'POST /v1/messages', key, body, (request) => sendOne(caller, body, request))
    if (answer instanceof Problem) throw answer
    return answer
  }

  /** Resolves to the refusal where the door itself decided, which has kept it under the key; throws what was refused before. */
  async function sendOne(caller: Caller, body: unknown, request: KeyedRequest | undefined): Promise<Reply | Problem> {
    const item = await checkItem(deps, caller, body)
    const outcome = await door.submit(request === undefined ? { items: [item] } : { items: [item], key: request })
    if (outcome.kind === 'known') return await replayOf(caller, request!)
    const only = outcome.items[0]!
    return only.kind === 'refused' ? refusalOf(only.code) : reply(202, messageObject(only.row))
  }

  /** `POST /v1/messages/batch`: 207 whatever its items met (interface: Messages). */
  async function sendBatch(caller: Caller, body: unknown, key: string | undefined): Promise<Reply> {
    if (key === undefined) return await sendItems(caller, body, undefined)
    return await keyed(caller, 'POST /v1/messages/batch', key, body, (request) => sendItems(caller, body, request))
  }

  async function sendItems(caller: Caller, body: unknown, request: KeyedRequest | undefined): Promise<Reply> {
    const written = itemsOf(body)
    const checked = await Promise.all(written.map((item) => checkItem(deps, caller, item).catch(asProblem)))
    const items = checked.filter((result): result is Item => !(result instanceof Problem))
    const merge = (outcomes: readonly ItemOutcome[]): (MessageRow | Problem)[] => {
      let next = 0
      return checked.map((result) => {
        if (result instanceof Problem) return result
        const outcome = outcomes[next++]!
        return outcome.kind === 'accepted' ? outcome.row : refusalOf(outcome.code)
      })
    }
    if (items.length === 0 && request === undefined) return batchReply(merge([]), caller)
    const outcome = await submitBatch(items, request, merge)
    if (outcome.kind === 'known') return await replayOf(caller, request!)
    return batchReply(merge(outcome.items), caller)
  }

  async function submitBatch(items: readonly Item[], request: KeyedRequest | undefined, merge: (outcomes: readonly ItemOutcome[]) => (MessageRow | Problem)[]) {
    if (request !== undefined) {
      return await door.submit({
        items,
        key: request,
        storedReply: (outcomes) => ({ status: 207, message_id: null, response: { items: merge(outcomes).map(storedItem) } }),
      })
    }
    // a batch is well-formed, so what the database cannot take now is its items' 503
    return await door.submit({ items }).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'upstream_unavailable')
        return { kind: 'done' as const, items: items.map((): ItemOutcome => ({ kind: 'refused', code: 'upstream_unavailable' })) }
      throw error
    })
  }

  /** Runs a keyed request: twins in this process are refused, refusals that the operation decided are stored, a known key is replayed. */
  async function keyed<A>(caller: Caller, operation: string, key: string, body: unknown, work: (request: KeyedRequest) => Promise<A>): Promise<A | Reply> {
    const request: KeyedRequest = { account_id: caller.account_id, mode: caller.mode, operation, key, fingerprint: canonicalFingerprint(body) }
    running.enter(request)
    try {
      return await work(request)
    } catch (error) {
      if (!(error instanceof Problem) || error.headers !== undefined) throw error
      // the key is looked at before the shape: a known one decides (decisions 1, "Order of checks")
      const known = await knownKey(request)
      const overtaken = known === null && isStoredRefusal(error) && !(await keepRefusal(request, error))
      const row = overtaken ? await knownKey(request) : known
      if (row !== null) return await replayRow(caller, request, row)
      throw error
    } finally {
      running.leave(request)
    }
  }

  async function knownKey(request: KeyedRequest): Promise<KeyRow | null> {
    const row = await findKey(pool, request)
    return row === null || Date.parse(row.created_at) <= clock.now() - limits.idempotency_window_ms ? null : row
  }

  /** False where a twin in another process was quicker: its answer is the one that stands. */
  async function keepRefusal(request: KeyedRequest, problem: Problem): Promise<boolean> {
    const at_ms = clock.now()
    return await transact(pool, async (tx) => {
      const taken = await takeKeys(tx, [request], isoTime(at_ms), isoTime(at_ms - limits.idempotency_window_ms))
      if (taken.size > 0) await storeReplies(tx, [{ ...request, status: problem.status, message_id: null, response: storedRefusal(problem) }])
      return taken.size > 0
    })
  }

  async function replayOf(caller: Caller, request: KeyedRequest): Promise<Reply> {
    const row = await knownKey(request)
    if (row === null) throw new Problem('idempotency_key_in_use')
    return await replayRow(caller, request, row)
  }

  async function replayRow(caller: Caller, request: KeyedRequest, row: KeyRow): Promise<Reply> {
    sameRequest(row, request)
    if (row.status === null) throw new Problem('idempotency_key_in_use')
    if (row.message_id !== null) {
      const message = await store.findMessage(pool, caller, row.message_id)
      if (message !== null) return reply(202, acceptedObject(message), replayedHeaders)
      throw new Problem('idempotency_key_reused', 'The message of this Idempotency-Key is not kept any more. Use a fresh key.')
    }
    if (row.status === 207) return await replayBatch(caller, row.response as { items: StoredItem[] })
    const stored = row.response as { error?: unknown; code?: ErrorCode }
    if (stored.error === undefined) {
      const problem = refusalOf(stored.code!)
      throw new Problem(problem.code, problem.message, { headers: replayedHeaders })
    }
    return replay(platform, row)
  }

  async function replayBatch(caller: Caller, { items }: { items: StoredItem[] }): Promise<Reply> {
    const rows = new Map(
      (
        await store.findMessages(
          pool,
          caller,
          items.flatMap((item) => ('message_id' in item ? [item.message_id] : [])),
        )
      ).map((row) => [row.id, row]),
    )
    const results = items.flatMap((item): (MessageRow | Problem)[] => {
      if ('message_id' in item) return rows.has(item.message_id) ? [rows.get(item.message_id)!] : []
      const { code, message, param, details } = item.error
      return [new Problem(code, message, { ...(param === undefined ? {} : { param }), ...(details === undefined ? {} : { details }) })]
    })
    return { ...batchReply(results, caller, acceptedObject), headers: replayedHeaders }
  }

  function batchReply(results: readonly (MessageRow | Problem)[], caller: Caller, show: (row: MessageRow) => Message = messageObject): Reply {
    const data = results.map((result, index) =>
      result instanceof Problem
        ? { index, status: result.status, error: errorBody(result, caller.request_id, platform.settings.base_url) }
        : { index, status: 202, message: show(result) },
    )
    const rejected = results.filter((result) => result instanceof Problem).length
    return reply(207, { object: 'batch', data, accepted: results.length - rejected, rejected })
  }

  async function get(sql: Db, tenant: Tenant, id: string): Promise<MessageRow> {
    const row = isId('msg', id) ? await store.findMessage(sql, tenant, id) : null
    if (row === null) throw missing('message', id)
    return row
  }

  async function list(sql: Db, tenant: Tenant, filters: store.MessageFilters, page: Page): Promise<Message[]> {
    const cursor = page.starting_after
    if (cursor !== undefined && (!isId('msg', cursor) || (await store.findMessage(sql, tenant, cursor)) === null)) {
      throw invalid('starting_after', 'invalid_value', 'No message has the id given in starting_after. Use the next_cursor of the page before.')
    }
    return (await store.listMessages(sql, tenant, filters, page)).map(messageObject)
  }

  async function history(sql: Db, tenant: Tenant, id: string): Promise<MessageHistoryItem[]> {
    const row = await get(sql, tenant, id)
    return historyOf(row, await store.eventsOfMessage(sql, tenant, id))
  }

  async function attempts(sql: Db, tenant: Tenant, id: string) {
    await get(sql, tenant, id)
    return (await store.listAttempts(sql, tenant, id)).map((row) => ({ object: 'message_attempt' as const, ...row }))
  }

  /** Cancels a message that waits: only while `queued` (decisions 4). */
  async function cancel(sql: Db, tenant: Tenant, id: string): Promise<Message> {
    const { status } = await get(sql, tenant, id)
    if (status !== 'queued') throw notCancelled(status)
    if (deps.withdraw([id]).has(id)) throw notCancelled('being handed over')
    const row = await transact(sql, async (tx) => {
      const error = { code: 'cancelled', message: 'The message was cancelled before it was handed over.', provider_code: null }
      const moved = await applyTransitions(deps, tx, [
        { account_id: tenant.account_id, mode: tenant.mode, message_id: id, transition: 'cancel', at: isoTime(clock.now()), error },
      ])
      if (moved.size > 0) await endJobs(tx, [id])
      return moved.get(id)
    })
    if (row === undefined) throw notCancelled((await get(sql, tenant, id)).status)
    platform.notify('fan-out')
    deps.followers.wake([row])
    return messageObject(row)
  }

  /** `POST /v1/test/inbound_messages`: what a recipient would write, on a sandbox channel (decisions 6). */
  async function simulateInbound(sql: Db, tenant: Tenant, body: InboundRequest): Promise<Message> {
    const type = body.type ?? 'text'
    if (![...messageTypes, ...inboundTypes].includes(type as never) || type === 'template')
      throw invalid('type', 'invalid_value', `\`type\` must be a type that comes in: text, attachments, location, contacts, ${inboundTypes.join(', ')}.`)
    const channel = await channels.find(tenant, body.channel)
    if (channel === null || channel.provider !== 'sandbox') throw missing('sandbox channel', body.channel, 'channel')
    const reply_to = body.reply_to ?? null
    if (reply_to !== null && (!isId('msg', reply_to) || (await store.findMessage(sql, tenant, reply_to)) === null))
      throw missing('message', reply_to, 'reply_to')
    const failures = [
      ...validateInboundContent(type, body[type]),
      ...checkRecipient(channel.type, body.from).map((detail) => ({ ...detail, param: 'from', message: detail.message.replace('`to`', '`from`') })),
    ]
    if (failures[0] !== undefined) throw Problem.invalid([failures[0], ...failures.slice(1)])
    const [row] = await transact(sql, (tx) =>
      storeInbound(deps, tx, [
        {
          account_id: tenant.account_id,
          mode: tenant.mode,
          channel,
          from: body.from,
          profile_name: body.profile_name ?? null,
          type,
          content: body[type],
          reply_to,
          provider_id: null,
        },
      ]),
    )
    platform.notify('fan-out', 'dispatch')
    return messageObject(row!)
  }

  return { send, sendBatch, get, list, history, attempts, cancel, simulateInbound }
}

const notCancelled = (state: string): Problem => new Problem('message_state_invalid', `The message is ${state}; only a queued message can be cancelled.`)

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
