/** The worker `callbacks` applies callback items; receipts of unknown messages are retried later. */
import { tenantOf } from '../../../api/caller.ts'
import { limits } from '../../../api/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import { failedToRead, readApart } from '../../../platform/database/unreadable.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ConnectionStatus, DeliveryReceipt } from '../../../providers/provider.ts'
import type { ChannelService } from '../../channels/service.ts'
import { endJobs } from '../dispatch/repository.ts'
import type { ProviderIdCache } from '../dispatch/provider-id-cache.ts'
import type { InboundDeps, StoredInbound } from '../inbound/inbound.ts'
import { partsWorker } from '../inbound/parts.ts'
import type { MessageRow } from '../message.ts'
import { type ReceiptWrite, writeReceipts } from '../transitions-repository.ts'
import { applyTransitions, stepOf, type TransitionDeps, type TransitionRequest, writeOf } from '../transitions.ts'
import { saveReferences, referenceKey } from '../references-repository.ts'
import { isOfAnother, referencesOf } from './matching.ts'
import {
  findNamed,
  listDueOfOtherChannels,
  listDueItems,
  listDueKeys,
  listOvertaking,
  lockMessages,
  type NamedItem,
  postponeItems,
  postponeUnreadable,
  deleteItems,
  deleteUnlocked,
  type CallbackItemRow,
  lockDueItems,
  lockItem,
  lockItems,
} from './repository.ts'
import { isPart, requestOf, requestsOfParts, acceptNamedParts } from './parts.ts'
import { applyInboundItems } from './inbound.ts'

export interface CallbackItemDeps extends TransitionDeps, InboundDeps {
  readonly channels: ChannelService
  readonly providerIds: ProviderIdCache
}

const batchMax = 500
/** For a receipt of an unknown message. */
const keepMs = 7 * 24 * 3600_000
const waitFirstMs = 200
const unreadableWaitMs = 30_000
const waitMaxMs = 3600_000
/** Between look-ups of an unknown message: about 25 in all. */
const waitUnknownMaxMs = 24 * 3600_000
/** Items per other channel, while one channel fills a batch. */
const shareOfOthers = 20

interface Applied {
  readonly items: number
  readonly changed: readonly MessageRow[]
  readonly replies: StoredInbound['replies']
  readonly files: number
  /** Messages whose remaining parts became due. */
  readonly raised: number
}
const nothing: Applied = { items: 0, changed: [], replies: [], files: 0, raised: 0 }

export const callbackWorkers = (deps: CallbackItemDeps): Worker[] => [itemsWorker(deps), partsWorker(deps)]

function itemsWorker(deps: CallbackItemDeps): Worker {
  const { platform } = deps
  let after = ''
  return {
    name: 'callbacks',
    poll_every_ms: 1000,
    async tick() {
      const now = platform.clock.now()
      const first = await listDueItems(platform.pool, isoTime(now), batchMax).catch((error: unknown) =>
        withoutUnreadable(platform, now, error),
      )
      const others = await dueOfOtherChannels(deps, first, { now, after })
      after = others.last
      const due = [...first, ...others.items]
      const quick = await applyInOneStatement(deps, due, isoTime(now)).catch((error: unknown) => {
        platform.log.warn(
          { err: error },
          'receipts could not be applied in one statement; they are applied under locks',
        )
        return nothing
      })
      const rest = quick.items === due.length ? nothing : await applyUnderLocks(deps, now, others.items)
      if (quick.items + rest.items > 0) platform.notify('fan-out')
      if (rest.replies.length + rest.raised > 0) platform.notify('dispatch')
      if (rest.files > 0) platform.notify('media')
      deps.projections.wake([...quick.changed, ...rest.changed, ...rest.replies])
      return quick.items + rest.items
    },
  }
}

/** Postpones items that cannot be read, and deletes them after three tries. The others are listed again. */
async function withoutUnreadable({ pool, log }: Platform, now: number, error: unknown): Promise<CallbackItemRow[]> {
  if (!failedToRead(error)) throw error
  log.warn({ err: error }, 'callback items could not be read together; those that cannot be read are set aside')
  const at = isoTime(now)
  const { unreadable } = await readApart(await listDueKeys(pool, at, batchMax), (keys) => lockItems(pool, keys))
  for (const key of unreadable)
    if (await postponeUnreadable(pool, key, isoTime(now + unreadableWaitMs)))
      log.error({ item_id: key.id }, 'a callback item was deleted, because it could not be read three times')
  return await listDueItems(pool, at, batchMax)
}

const isFull = (items: readonly CallbackItemRow[]): boolean =>
  items.length >= batchMax || items.reduce((sum, { bytes }) => sum + bytes, 0) >= limits.claim_bytes_max

async function dueOfOtherChannels(
  { platform }: CallbackItemDeps,
  first: readonly CallbackItemRow[],
  { now, after }: { readonly now: number; readonly after: string },
): Promise<{ readonly items: readonly CallbackItemRow[]; readonly last: string }> {
  if (!isFull(first)) return { items: [], last: '' }
  const channel_ids = [...new Set(first.map(({ channel_id }) => channel_id))]
  return await listDueOfOtherChannels(platform.pool, isoTime(now), { channel_ids, after, each_max: shareOfOthers })
}

/** Together; if that fails, one by one, retrying failures with backoff. */
async function applyUnderLocks(
  deps: CallbackItemDeps,
  now: number,
  others: readonly CallbackItemRow[],
): Promise<Applied> {
  const { pool, log } = deps.platform
  try {
    return await applyDue(deps, now, others)
  } catch (error) {
    log.warn({ err: error }, 'callback items could not be applied together; they are applied one by one')
  }
  const due = [
    ...new Map([...(await listDueItems(pool, isoTime(now), batchMax)), ...others].map((row) => [row.id, row])).values(),
  ]
  const changed: MessageRow[] = []
  const replies: Applied['replies'][number][] = []
  let [files, raised] = [0, 0]
  for (const row of due) {
    try {
      const applied = await transact(pool, async (tx) => await applyInTurn(deps, tx, await lockItem(tx, row), now))
      changed.push(...applied.changed)
      replies.push(...applied.replies)
      files += applied.files
      raised += applied.raised
    } catch (error) {
      log.error(
        { err: error, item_id: row.id, channel_id: row.channel_id },
        'a callback item could not be applied; it is retried later',
      )
      await transact(pool, async (tx) => {
        const rows = await lockItem(tx, row)
        if (mayWait(deps.platform, row)) await postpone(tx, rows, now)
        else await deleteItems(tx, rows)
      })
    }
  }
  return { items: due.length, changed, replies, files, raised }
}

const applyDue = async (deps: CallbackItemDeps, now: number, others: readonly CallbackItemRow[]): Promise<Applied> =>
  await transact(deps.platform.pool, async (tx) => {
    const first = await lockDueItems(tx, isoTime(now), batchMax)
    const taken = new Set(first.map(({ id }) => id))
    const rows = [
      ...first,
      ...(await lockItems(
        tx,
        others.filter(({ id }) => !taken.has(id)),
      )),
    ]
    return await applyInTurn(deps, tx, rows, now)
  })

/** Some items must wait for an earlier one of the same message or recipient. */
async function applyInTurn(
  deps: CallbackItemDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
  now: number,
): Promise<Applied> {
  const overtaking = await listOvertaking(tx, rows, isoTime(now))
  return await applyRows(
    deps,
    tx,
    rows.filter(({ id }) => !overtaking.has(id)),
    now,
  )
}

async function applyRows(
  deps: CallbackItemDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
  now: number,
): Promise<Applied> {
  if (rows.length === 0) return nothing
  const receipts = rows.filter((row) => row.item.kind === 'delivery_receipt')
  const { late, changed, raised } = await applyReceipts(deps, tx, receipts, isoTime(now))
  const { replies, files } = await applyInboundItems(
    deps,
    tx,
    rows.filter(({ item }) => item.kind === 'inbound' || item.kind === 'preference'),
  )
  await applyConnectionStatuses(
    deps,
    tx,
    rows.filter((row) => row.item.kind === 'connection_status'),
  )
  await applyTemplates(
    deps,
    tx,
    rows.filter((row) => row.item.kind === 'templates'),
  )
  const postponed = late.filter((row) => mayWait(deps.platform, row))
  await postpone(tx, postponed, now, waitUnknownMaxMs)
  const waiting = new Set(postponed.map(({ id }) => id))
  await deleteItems(
    tx,
    rows.filter(({ id }) => !waiting.has(id)),
  )
  return { items: rows.length, changed, replies, files, raised }
}

const mayWait = ({ retention_clock }: Pick<Platform, 'retention_clock'>, { created_at }: CallbackItemRow): boolean =>
  !retention_clock.isPast(Date.parse(created_at) + keepMs, created_at)

/**
 * Only remembered messages and one event each. Receipts that change nothing are deleted: a message never returns to an
 * earlier status.
 */
async function applyInOneStatement(
  deps: CallbackItemDeps,
  due: readonly CallbackItemRow[],
  at: string,
): Promise<Applied> {
  // failures are applied under locks, and later receipts must not overtake them
  const failing = new Set(
    due.flatMap(({ provider_id, item }) =>
      item.kind === 'delivery_receipt' && item.transition === 'fail' ? [provider_id] : [],
    ),
  )
  const rows = new Map<string, MessageRow>()
  const idle: CallbackItemRow[] = []
  const receipts = due.flatMap((row): ReceiptWrite[] => {
    const { id, place, channel_id, provider_id, item } = row
    const request =
      item.kind === 'delivery_receipt' && !failing.has(provider_id)
        ? rememberedRequest(deps, { channel_id, provider_id, item }, at)
        : undefined
    if (request === undefined) return []
    const step = stepOf(request.row, [request])
    if (step === null) {
      idle.push(row)
      deps.providerIds.remember(channel_id, provider_id ?? '', request.row)
    }
    if (step?.emitted.length !== 1) return []
    rows.set(step.after.id, step.after)
    return [{ ...writeOf(deps.platform, step), item_id: id, place }]
  })
  const written = await writeReceipts(deps.platform.pool, deps.projections, receipts)
  const removed = await deleteUnlocked(deps.platform.pool, idle)
  return {
    items: written.size + removed,
    changed: [...written].map((id) => rows.get(id)!),
    replies: [],
    files: 0,
    raised: 0,
  }
}

/** `late`: receipts of unknown messages. */
async function applyReceipts(
  deps: CallbackItemDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
  at: string,
): Promise<{ late: readonly CallbackItemRow[]; changed: readonly MessageRow[]; raised: number }> {
  if (rows.length === 0) return { late: [], changed: [], raised: 0 }
  const soon: TransitionRequest[] = []
  const others = rows.filter((row) => {
    const remembered = rememberedRequest(deps, row, at)
    if (remembered !== undefined) soon.push(remembered)
    return remembered === undefined
  })
  const references = await referencesOf(deps, tx, others)
  const known = others.flatMap((row) => {
    const reference = references.get(row.id)
    return reference === undefined ? [] : [{ reference, receipt: row.item as DeliveryReceipt }]
  })
  const unknown = others.filter(({ id }) => !references.has(id))
  const found = await findNamed(tx, unknown.flatMap(namedOf))
  const namedParts = found.flatMap((one) => (one.part === undefined ? [] : [{ ...one, part: one.part }]))
  const knownParts = known.filter(({ reference }) => reference.parts > 1)
  // parts are judged under locks: another receipt or an attempt may change them now
  if (namedParts.length + knownParts.length > 0)
    await lockMessages(tx, [...soon, ...known.map(({ reference }) => reference), ...found])
  const whole = known
    .filter(({ reference }) => reference.parts === 1)
    .map(({ reference, receipt }) => requestOf(reference, receipt, receipt.transition, at))
  const proved = await acceptNamedParts(tx, namedParts, at)
  const parts = await requestsOfParts(tx, knownParts, at)
  const named = found.filter(({ part }) => part === undefined)
  const changed = await applyTransitions(deps, tx, [
    ...soon,
    ...whole,
    ...proved.requests,
    ...parts,
    ...named.map((one) => requestOfNamed(one, at)),
  ])
  const accepted = await acceptNamed(tx, named, at)
  return {
    late: unknown.filter(({ id }) => !accepted.has(id) && !proved.ids.has(id)),
    changed: [...changed.values()],
    raised: proved.raised,
  }
}

/** A receipt with our message id, of an attempt without a stored answer. */
const namedOf = (row: CallbackItemRow): (NamedItem & { receipt: DeliveryReceipt; part: DeliveryReceipt['part'] })[] => {
  const receipt = row.item as DeliveryReceipt
  const { message_id, provider_id, part } = receipt
  return typeof message_id === 'string' && message_id !== '' && provider_id !== '' && isPart(part)
    ? [{ ...row, provider_id, message_id, receipt, part }]
    : []
}

/** A failed attempt does not fail a message that the provider accepted in another one. */
const requestOfNamed = (named: NamedItem & { receipt: DeliveryReceipt }, at: string): TransitionRequest =>
  requestOf(named, named.receipt, named.receipt.transition === 'fail' ? 'refuse' : named.receipt.transition, at)

/** Resolves to the items applied; the others are applied soon, by references written meanwhile. */
async function acceptNamed(tx: Db, named: readonly NamedItem[], at: string): Promise<Set<string>> {
  const inserted = await saveReferences(
    tx,
    named.map((one) => ({ ...one, part: 0, parts: 1, created_at: at })),
  )
  const accepted = named.filter((one) => inserted.has(referenceKey(one)))
  await endJobs(
    tx,
    accepted.map(({ message_id }) => message_id),
  )
  return new Set(accepted.map(({ id }) => id))
}

function rememberedRequest(
  deps: CallbackItemDeps,
  { channel_id, provider_id, item }: Pick<CallbackItemRow, 'channel_id' | 'provider_id' | 'item'>,
  at: string,
): (TransitionRequest & { readonly row: MessageRow }) | undefined {
  const receipt = item as DeliveryReceipt
  const row = deps.providerIds.find(channel_id, provider_id ?? '')
  if (row === undefined || isOfAnother(receipt, row.to)) return undefined
  deps.providerIds.take(channel_id, provider_id ?? '')
  return { ...requestOf({ ...tenantOf(row), message_id: row.id }, receipt, receipt.transition, at), row }
}

async function applyConnectionStatuses(
  { channels, platform }: CallbackItemDeps,
  tx: Db,
  rows: readonly CallbackItemRow[],
): Promise<void> {
  const latest = new Map(rows.map((row) => [row.channel_id, row]))
  for (const { account_id, mode, channel_id, item } of latest.values()) {
    const channel = await channels.findIn(tx, { account_id, mode }, channel_id)
    if (channel === null) continue
    const { connected, message } = item as ConnectionStatus
    platform.log.warn(
      { channel_id, connected, provider: channel.provider },
      `the provider reported the connection: ${message}`,
    )
    await channels.setConnection(tx, channel, connected ? 'connected' : 'disconnected')
  }
}

async function applyTemplates({ channels }: CallbackItemDeps, tx: Db, rows: readonly CallbackItemRow[]): Promise<void> {
  for (const { account_id, mode, channel_id } of new Map(rows.map((row) => [row.channel_id, row])).values()) {
    const channel = await channels.findIn(tx, { account_id, mode }, channel_id)
    if (channel !== null) await channels.templatesChanged(tx, channel)
  }
}

/**
 * Immediate retries during which later items of the recipient wait; an earlier item would undo them (behaviour: consent
 * 4.5).
 */
const triesInPlace = 5
const keepsPlace = ({ item, attempts }: CallbackItemRow): boolean =>
  (item?.kind === 'inbound' || item?.kind === 'preference') && attempts < triesInPlace

async function postpone(tx: Db, rows: readonly CallbackItemRow[], now: number, max_ms = waitMaxMs): Promise<void> {
  const dueAfter = ({ attempts, created_at }: CallbackItemRow): number => {
    const due_ms = now + Math.min(waitFirstMs * 2 ** Math.min(attempts, 20), max_ms)
    const end_ms = Date.parse(created_at) + keepMs
    // an end in the past: the clock jumped ahead
    return end_ms <= now ? due_ms : Math.max(now + waitFirstMs, Math.min(due_ms, end_ms))
  }
  await postponeItems(
    tx,
    rows.map((row) => ({ place: row.place, next_run_at: keepsPlace(row) ? row.next_run_at : isoTime(dueAfter(row)) })),
  )
}
