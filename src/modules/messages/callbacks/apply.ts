/** The worker `reports`: applies what providers told, set-wise and in any order. A receipt that comes before our own record of its message is kept and applied later. */
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
/** A receipt whose message never turns up is kept so long. */
const keepMs = 7 * 24 * 3600_000
const waitFirstMs = 200
const waitMaxMs = 3600_000
/** A receipt that names nothing known is looked at again so rarely in the end, about 25 times in all. */
const waitUnknownMaxMs = 24 * 3600_000
/** Where more is due than is applied at once, so many reports of each channel that is not among them are applied as well. */
const shareOfOthers = 20

/** What became of reports: how many were looked at, the messages that changed by them, and what is sent in answer. */
interface Applied {
  readonly reports: number
  readonly changed: readonly MessageRow[]
  /** What is to be sent in answer to inbound messages. */
  readonly replies: StoredInbound['replies']
  /** Files that are to be copied now. */
  readonly files: number
  /** Messages whose rest is due, since receipts proved what was taken of them. */
  readonly raised: number
}
const nothing: Applied = { reports: 0, changed: [], replies: [], files: 0, raised: 0 }

/** Applies what providers told, and tells what of it waited for parts that did not come. */
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

/** Where one channel has so much due that it is all that is applied at once, what is due first of the others, so that they need not wait for it. */
async function behind(
  { platform }: ReportDeps,
  first: readonly ReportRow[],
  { now, after }: { readonly now: number; readonly after: string },
): Promise<{ readonly reports: readonly ReportRow[]; readonly last: string }> {
  if (first.length < batchMax) return { reports: [], last: '' }
  const channel_ids = [...new Set(first.map(({ channel_id }) => channel_id))]
  return await listDueOfOthers(platform.pool, isoTime(now), { channel_ids, after, each_max: shareOfOthers })
}

/** Whatever is due, together; where one spoils the others, each by itself: the one that cannot be applied is tried again later, and more and more rarely. */
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

/** What is due, and these of other channels, under locks, in one transaction. */
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

/** Those of these whose turn it is: another process may have an earlier one of the same message or recipient in hand, or it could not be applied, and the later one must not overtake it. */
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

const mayWait = ({ ageing }: Pick<Platform, 'ageing'>, { created_at }: ReportRow): boolean =>
  !ageing.isPast(Date.parse(created_at) + keepMs, created_at)

/**
 * Applies the receipts of messages that this process remembers and that are one step with one event. One that changes nothing, such as that a message was
 * sent which says so, is done with at once: a message never goes back to a status in which it would have changed something.
 */
async function applyQuickly(deps: ReportDeps, due: readonly ReportRow[], at: string): Promise<Applied> {
  // a failure is applied under locks, and what came after it must not overtake it
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
      // what comes after it finds the message as it did
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

/** Applies receipts; resolves to those whose message is not known yet, to the messages that changed, and to how many of several parts have their rest due by it. */
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
  // what was told and taken of a message of several parts is judged with it locked: another of its receipts may be applied, or a hand-over end, at this moment
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

/** A receipt that names our own message: its hand-over had no answer, or none that is written yet. */
const namedOf = (row: ReportRow): (NamedReport & { receipt: DeliveryReceipt; part: DeliveryReceipt['part'] })[] => {
  const receipt = row.report as DeliveryReceipt
  const { message_id, provider_id, part } = receipt
  return typeof message_id === 'string' && message_id !== '' && provider_id !== '' && isPart(part)
    ? [{ ...row, provider_id, message_id, receipt, part }]
    : []
}

/** That one hand-over failed is nothing to a message which the provider took at another. */
const requestOfNamed = (named: NamedReport & { receipt: DeliveryReceipt }, at: string): TransitionRequest =>
  requestOf(named, named.receipt, named.receipt.transition === 'fail' ? 'refuse' : named.receipt.transition, at)

/**
 * Keeps the provider's ids of messages that receipts named, and ends their jobs: the provider has them. Resolves to the ids of the reports that are
 * settled by it; the others are applied in a moment, by the reference that was written meanwhile.
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

/** What a receipt asks of the message that this process remembers by the provider's id, if it does; once. */
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

/** The last word of each channel counts. */
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

/** What a recipient said after a word that could not be applied waits for so many tries of that, made at once: else the earlier word would undo it (behaviour: consent 4.5). */
const triesInPlace = 5
const keepsPlace = ({ report, attempts }: ReportRow): boolean =>
  (report?.kind === 'inbound' || report?.kind === 'preference') && attempts < triesInPlace

/** Later and later, and for the last time when they are given up: their messages may become known, or what spoils them may pass. */
async function postpone(tx: Db, rows: readonly ReportRow[], now: number, max_ms = waitMaxMs): Promise<void> {
  const dueAfter = ({ attempts, created_at }: ReportRow): number => {
    const due_ms = now + Math.min(waitFirstMs * 2 ** Math.min(attempts, 20), max_ms)
    const end_ms = Date.parse(created_at) + keepMs
    // an end that is past is one by a clock that jumped ahead
    return end_ms <= now ? due_ms : Math.max(now + waitFirstMs, Math.min(due_ms, end_ms))
  }
  await postponeReports(
    tx,
    rows.map((row) => ({ place: row.place, next_run_at: keepsPlace(row) ? row.next_run_at : isoTime(dueAfter(row)) })),
  )
}
