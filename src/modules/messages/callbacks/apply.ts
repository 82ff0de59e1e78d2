/**
 * The worker `reports`: applies callback items in batches and in any order. A receipt that arrives before our own
 * record of its message is stored and applied later.
 */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ConnectionStatus, DeliveryReceipt } from '../../../providers/provider.ts'
import type { ChannelService } from '../../channels/service.ts'
import { endJobs } from '../dispatch/repository.ts'
import type { ProviderIdCache } from '../dispatch/recent-sends.ts'
import type { InboundDeps, StoredInbound } from '../inbound/inbound.ts'
import { partsWorker } from '../inbound/parts.ts'
import type { MessageRow } from '../message.ts'
import { type ReceiptWrite, writeReceipts } from '../transitions-repository.ts'
import { applyTransitions, stepOf, type TransitionDeps, type TransitionRequest, writeOf } from '../transitions.ts'
import { keepReferences, referenceKey } from '../references-repository.ts'
import { isOfAnother, referencesOf } from './matching.ts'
import {
  findNamed,
  listDueOfOthers,
  listDueReports,
  listOvertaking,
  lockMessages,
  type NamedReport,
  postponeReports,
  removeReports,
  removeUnlocked,
  type ReportRow,
  takeDueReports,
  takeReport,
  takeReports,
} from './repository.ts'
import { isPart, requestOf, requestsOfParts, settleParts } from './parts.ts'
import { applySaid } from './inbound.ts'

export interface ReportDeps extends TransitionDeps, InboundDeps {
  readonly channels: ChannelService
  readonly providerIds: ProviderIdCache
}

const batchMax = 500
/** A receipt whose message never appears is kept for this long. */
const keepMs = 7 * 24 * 3600_000
const waitFirstMs = 200
const waitMaxMs = 3600_000
/** The longest wait between look-ups of an unknown message, about 25 look-ups in all. */
const waitUnknownMaxMs = 24 * 3600_000
/** When one channel fills a whole batch, this many items of each other channel are applied as well. */
const shareOfOthers = 20

/** The effects of a batch: how many items were read, the messages they changed, and what follows. */
interface Applied {
  readonly reports: number
  readonly changed: readonly MessageRow[]
  /** Answers to inbound messages that are to be sent. */
  readonly replies: StoredInbound['replies']
  /** Files to copy now. */
  readonly files: number
  /** Messages whose remaining parts are due, because receipts proved which parts were accepted. */
  readonly raised: number
}
const nothing: Applied = { reports: 0, changed: [], replies: [], files: 0, raised: 0 }

/** The worker that applies callback items, and the one that ends waiting for parts of inbound texts. */
export const reportWorkers = (deps: ReportDeps): Worker[] => [reportsWorker(deps), partsWorker(deps)]

function reportsWorker(deps: ReportDeps): Worker {
  const { platform } = deps
  let after = ''
  return {
    name: 'reports',
    idle_ms: 1000,
    async tick() {
      const now = platform.clock.now()
      const first = await listDueReports(platform.pool, isoTime(now), batchMax)
      const others = await behind(deps, first, { now, after })
      after = others.last
      const due = [...first, ...others.reports]
      const quick = await applyQuickly(deps, due, isoTime(now)).catch((error: unknown) => {
        platform.log.warn({ err: error }, 'receipts could not be applied the quick way; they are applied under locks')
        return nothing
      })
      const rest = quick.reports === due.length ? nothing : await applyRest(deps, now, others.reports)
      if (quick.reports + rest.reports > 0) platform.notify('fan-out')
      if (rest.replies.length + rest.raised > 0) platform.notify('dispatch')
      if (rest.files > 0) platform.notify('media')
      deps.projections.wake([...quick.changed, ...rest.changed, ...rest.replies])
      return quick.reports + rest.reports
    },
  }
}

/** The first items of other channels, when one channel fills the batch, so that they need not wait for it. */
async function behind(
  { platform }: ReportDeps,
  first: readonly ReportRow[],
  { now, after }: { readonly now: number; readonly after: string },
): Promise<{ readonly reports: readonly ReportRow[]; readonly last: string }> {
  if (first.length < batchMax) return { reports: [], last: '' }
  const channel_ids = [...new Set(first.map(({ channel_id }) => channel_id))]
  return await listDueOfOthers(platform.pool, isoTime(now), { channel_ids, after, each_max: shareOfOthers })
}

/** Applies due items together. If that fails, applies each alone: the one that cannot be applied is retried, less and less often. */
async function applyRest(deps: ReportDeps, now: number, others: readonly ReportRow[]): Promise<Applied> {
  const { pool, log } = deps.platform
  try {
    return await applyDue(deps, now, others)
  } catch (error) {
    log.warn({ err: error }, 'reports of providers could not be applied together; they are applied one by one')
  }
  const due = [
    ...new Map(
      [...(await listDueReports(pool, isoTime(now), batchMax)), ...others].map((row) => [row.id, row]),
    ).values(),
  ]
  const changed: MessageRow[] = []
  const replies: Applied['replies'][number][] = []
  let [files, raised] = [0, 0]
  for (const row of due) {
    try {
      const applied = await transact(pool, async (tx) => await applyInTurn(deps, tx, await takeReport(tx, row), now))
      changed.push(...applied.changed)
      replies.push(...applied.replies)
      files += applied.files
      raised += applied.raised
    } catch (error) {
      log.error(
        { err: error, report_id: row.id, channel_id: row.channel_id },
        'a report of a provider could not be applied; it is tried again later',
      )
      await transact(pool, async (tx) => {
        const rows = await takeReport(tx, row)
        if (mayWait(deps.platform, row)) await postpone(tx, rows, now)
        else await removeReports(tx, rows)
      })
    }
  }
  return { reports: due.length, changed, replies, files, raised }
}

/** Due items and these of other channels, under locks, in one transaction. */
const applyDue = async (deps: ReportDeps, now: number, others: readonly ReportRow[]): Promise<Applied> =>
  await transact(deps.platform.pool, async (tx) => {
    const first = await takeDueReports(tx, isoTime(now), batchMax)
    const taken = new Set(first.map(({ id }) => id))
    const rows = [
      ...first,
      ...(await takeReports(
        tx,
        others.filter(({ id }) => !taken.has(id)),
      )),
    ]
    return await applyInTurn(deps, tx, rows, now)
  })

/** Skips items that must wait for an earlier one of the same message or recipient, which another process has or which could not be applied. */
async function applyInTurn(deps: ReportDeps, tx: Db, rows: readonly ReportRow[], now: number): Promise<Applied> {
  const overtaking = await listOvertaking(tx, rows, isoTime(now))
  return await applyRows(
    deps,
    tx,
    rows.filter(({ id }) => !overtaking.has(id)),
    now,
  )
}

async function applyRows(deps: ReportDeps, tx: Db, rows: readonly ReportRow[], now: number): Promise<Applied> {
  if (rows.length === 0) return nothing
  const receipts = rows.filter((row) => row.report.kind === 'delivery_receipt')
  const { late, changed, raised } = await applyReceipts(deps, tx, receipts, isoTime(now))
  const { replies, files } = await applySaid(
    deps,
    tx,
    rows.filter(({ report }) => report.kind === 'inbound' || report.kind === 'preference'),
  )
  await applyLinks(
    deps,
    tx,
    rows.filter((row) => row.report.kind === 'connection_status'),
  )
  await applyTemplates(
    deps,
    tx,
    rows.filter((row) => row.report.kind === 'templates'),
  )
  const postponed = late.filter((row) => mayWait(deps.platform, row))
  await postpone(tx, postponed, now, waitUnknownMaxMs)
  const kept = new Set(postponed.map(({ id }) => id))
  await removeReports(
    tx,
    rows.filter(({ id }) => !kept.has(id)),
  )
  return { reports: rows.length, changed, replies, files, raised }
}

const mayWait = ({ retention_clock }: Pick<Platform, 'retention_clock'>, { created_at }: ReportRow): boolean =>
  !retention_clock.isPast(Date.parse(created_at) + keepMs, created_at)

/**
 * Applies receipts of messages that this process remembers and that are one step with one event. Receipts that change
 * nothing are removed at once, because a message never returns to a status in which they would.
 */
async function applyQuickly(deps: ReportDeps, due: readonly ReportRow[], at: string): Promise<Applied> {
  // failures are applied under locks, and later receipts must not overtake them
  const failing = new Set(
    due.flatMap(({ provider_id, report }) =>
      report.kind === 'delivery_receipt' && report.transition === 'fail' ? [provider_id] : [],
    ),
  )
  const rows = new Map<string, MessageRow>()
  const idle: ReportRow[] = []
  const receipts = due.flatMap((row): ReceiptWrite[] => {
    const { id, place, channel_id, provider_id, report } = row
    const request =
      report.kind === 'delivery_receipt' && !failing.has(provider_id)
        ? rememberedRequest(deps, { channel_id, provider_id, report }, at)
        : undefined
    if (request === undefined) return []
    const step = stepOf(request.row, [request])
    if (step === null) {
      idle.push(row)
      // later receipts find the message in its new status
      deps.providerIds.remember(channel_id, provider_id ?? '', request.row)
    }
    if (step?.emitted.length !== 1) return []
    rows.set(step.after.id, step.after)
    return [{ ...writeOf(deps.platform, step), report_id: id, place }]
  })
  const written = await writeReceipts(deps.platform.pool, deps.projections, receipts)
  const removed = await removeUnlocked(deps.platform.pool, idle)
  return {
    reports: written.size + removed,
    changed: [...written].map((id) => rows.get(id)!),
    replies: [],
    files: 0,
    raised: 0,
  }
}

/** Applies receipts. Resolves to those whose message is unknown so far, the changed messages, and how many messages have remaining parts due. */
async function applyReceipts(
  deps: ReportDeps,
  tx: Db,
  rows: readonly ReportRow[],
  at: string,
): Promise<{ late: readonly ReportRow[]; changed: readonly MessageRow[]; raised: number }> {
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
    return reference === undefined ? [] : [{ reference, receipt: row.report as DeliveryReceipt }]
  })
  const unknown = others.filter(({ id }) => !references.has(id))
  const found = await findNamed(tx, unknown.flatMap(namedOf))
  const namedParts = found.flatMap((one) => (one.part === undefined ? [] : [{ ...one, part: one.part }]))
  const knownParts = known.filter(({ reference }) => reference.parts > 1)
  // messages with several parts are judged under locks: another receipt or a send attempt may change them now
  if (namedParts.length + knownParts.length > 0)
    await lockMessages(tx, [...soon, ...known.map(({ reference }) => reference), ...found])
  const whole = known
    .filter(({ reference }) => reference.parts === 1)
    .map(({ reference, receipt }) => requestOf(reference, receipt, receipt.transition, at))
  const proved = await settleParts(tx, namedParts, at)
  const parts = await requestsOfParts(tx, knownParts, at)
  const named = found.filter(({ part }) => part === undefined)
  const changed = await applyTransitions(deps, tx, [
    ...soon,
    ...whole,
    ...proved.requests,
    ...parts,
    ...named.map((one) => requestOfNamed(one, at)),
  ])
  const settled = await settleNamed(tx, named, at)
  return {
    late: unknown.filter(({ id }) => !settled.has(id) && !proved.ids.has(id)),
    changed: [...changed.values()],
    raised: proved.raised,
  }
}

/** A receipt with our own message id: its send attempt has no answer, or none that is written yet. */
const namedOf = (row: ReportRow): (NamedReport & { receipt: DeliveryReceipt; part: DeliveryReceipt['part'] })[] => {
  const receipt = row.report as DeliveryReceipt
  const { message_id, provider_id, part } = receipt
  return typeof message_id === 'string' && message_id !== '' && provider_id !== '' && isPart(part)
    ? [{ ...row, provider_id, message_id, receipt, part }]
    : []
}

/** A failed attempt does not fail a message that the provider accepted in another one. */
const requestOfNamed = (named: NamedReport & { receipt: DeliveryReceipt }, at: string): TransitionRequest =>
  requestOf(named, named.receipt, named.receipt.transition === 'fail' ? 'refuse' : named.receipt.transition, at)

/**
 * Stores the provider's ids of messages that receipts named, and ends their jobs, because the provider has them.
 * Resolves to the ids of the items that are done; the others are applied soon, by the reference that was written
 * meanwhile.
 */
async function settleNamed(tx: Db, named: readonly NamedReport[], at: string): Promise<Set<string>> {
  const kept = await keepReferences(
    tx,
    named.map((one) => ({ ...one, part: 0, parts: 1, created_at: at })),
  )
  const settled = named.filter((one) => kept.has(referenceKey(one)))
  await endJobs(
    tx,
    settled.map(({ message_id }) => message_id),
  )
  return new Set(settled.map(({ id }) => id))
}

/** The transition that a receipt requests of a message that this process remembers. Once per message. */
function rememberedRequest(
  deps: ReportDeps,
  { channel_id, provider_id, report }: Pick<ReportRow, 'channel_id' | 'provider_id' | 'report'>,
  at: string,
): (TransitionRequest & { readonly row: MessageRow }) | undefined {
  const receipt = report as DeliveryReceipt
  const row = deps.providerIds.find(channel_id, provider_id ?? '')
  if (row === undefined || isOfAnother(receipt, row.to)) return undefined
  deps.providerIds.take(channel_id, provider_id ?? '')
  return { ...requestOf({ ...tenantOf(row), message_id: row.id }, receipt, receipt.transition, at), row }
}

/** The last report of each channel counts. */
async function applyLinks({ channels, platform }: ReportDeps, tx: Db, rows: readonly ReportRow[]): Promise<void> {
  const latest = new Map(rows.map((row) => [row.channel_id, row]))
  for (const { account_id, mode, channel_id, report } of latest.values()) {
    const channel = await channels.findIn(tx, { account_id, mode }, channel_id)
    if (channel === null) continue
    const { connected, message } = report as ConnectionStatus
    platform.log.warn(
      { channel_id, connected, provider: channel.provider },
      `the provider told of the link: ${message}`,
    )
    await channels.setConnection(tx, channel, connected ? 'connected' : 'disconnected')
  }
}

async function applyTemplates({ channels }: ReportDeps, tx: Db, rows: readonly ReportRow[]): Promise<void> {
  for (const { account_id, mode, channel_id } of new Map(rows.map((row) => [row.channel_id, row])).values()) {
    const channel = await channels.findIn(tx, { account_id, mode }, channel_id)
    if (channel !== null) await channels.templatesChanged(tx, channel)
  }
}

/**
 * When an item of a recipient cannot be applied, later items wait for this many immediate retries; otherwise the
 * earlier item would undo them (behaviour: consent 4.5).
 */
const triesInPlace = 5
const keepsPlace = ({ report, attempts }: ReportRow): boolean =>
  (report?.kind === 'inbound' || report?.kind === 'preference') && attempts < triesInPlace

/** Retries later and later, and once more when the item is abandoned: its message may become known, or the cause of the error may pass. */
async function postpone(tx: Db, rows: readonly ReportRow[], now: number, max_ms = waitMaxMs): Promise<void> {
  const dueAfter = ({ attempts, created_at }: ReportRow): number => {
    const due_ms = now + Math.min(waitFirstMs * 2 ** Math.min(attempts, 20), max_ms)
    const end_ms = Date.parse(created_at) + keepMs
    // an end in the past comes from a clock that jumped ahead
    return end_ms <= now ? due_ms : Math.max(now + waitFirstMs, Math.min(due_ms, end_ms))
  }
  await postponeReports(
    tx,
    rows.map((row) => ({ place: row.place, next_run_at: keepsPlace(row) ? row.next_run_at : isoTime(dueAfter(row)) })),
  )
}
