/** The lane `reports`: applies what providers told, set-wise and in any order. A receipt that comes before our own record of its message is kept and applied later. */
import type { Tenant } from '../../../contract/caller.ts'
import type { MessageRow } from '../rows.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Lane } from '../../../lib/loop.ts'
import { jsonRows, transact, type Db } from '../../../platform/database/sql.ts'
import type { InboundMessage, Receipt, Report } from '../../channels/adapter.ts'
import type { ChannelService } from '../../channels/service.ts'
import { storeInbound, type InboundDeps, type NewInbound } from '../inbound/inbound.ts'
import { writeReceipts, type ReceiptWrite } from '../transitions/store.ts'
import { applyTransitions, stepOf, writeOf, type TransitionDeps, type TransitionRequest } from '../transitions/transitions.ts'
import type { Recent } from '../dispatch/provider-ids.ts'

export interface ReportDeps extends TransitionDeps, InboundDeps {
  readonly channels: ChannelService
  readonly recent: Recent
}

interface ReportRow {
  id: string
  /** Where the row lies: it is locked, and so stays there until this transaction ends. */
  place: string
  account_id: Tenant['account_id']
  mode: Tenant['mode']
  channel_id: string
  provider_id: string | null
  report: Report
  due_at: string
  attempts: number
  created_at: string
}

const batchMax = 500
/** A receipt whose message never turns up is kept so long. */
const keepMs = 7 * 24 * 3600_000
const waitMaxMs = 3600_000

/** What became of reports: how many were looked at, and the messages that changed by them. */
interface Applied {
  readonly reports: number
  readonly changed: readonly MessageRow[]
}
const nothing: Applied = { reports: 0, changed: [] }

export function reportsLane(deps: ReportDeps): Lane {
  const { platform } = deps
  return {
    name: 'reports',
    idle_ms: 1000,
    async tick() {
      const now = platform.clock.now()
      const due = await seeDue(platform.pool, isoTime(now))
      const quick = await applyQuickly(deps, due, isoTime(now)).catch((error: unknown) => {
        platform.log.warn({ err: error }, 'receipts could not be applied the quick way; they are applied under locks')
        return nothing
      })
      const rest = quick.reports === due.length ? nothing : await applyRest(deps, now)
      if (quick.reports + rest.reports > 0) platform.notify('fan-out')
      deps.followers.wake([...quick.changed, ...rest.changed])
      return quick.reports + rest.reports
    },
  }
}

/** Whatever is due, together; where one spoils the others, each by itself: the one that cannot be applied is tried again later, and more and more rarely. */
async function applyRest(deps: ReportDeps, now: number): Promise<Applied> {
  const { pool, log } = deps.platform
  try {
    return await applyDue(deps, now)
  } catch (error) {
    log.warn({ err: error }, 'reports of providers could not be applied together; they are applied one by one')
  }
  const due = await seeDue(pool, isoTime(now))
  const changed: MessageRow[] = []
  for (const row of due) {
    try {
      const applied = await transact(pool, async (tx) => await applyRows(deps, tx, await takeOne(tx, row), now))
      changed.push(...applied.changed)
    } catch (error) {
      log.error({ err: error, report_id: row.id, channel_id: row.channel_id }, 'a report of a provider could not be applied; it is tried again later')
      await transact(pool, async (tx) => {
        const rows = await takeOne(tx, row)
        if (mayWait(row, now)) await postpone(tx, rows, now)
        else
          await removeAt(
            tx,
            rows.map(({ place }) => place),
          )
      })
    }
  }
  return { reports: due.length, changed }
}

/** What is due, under locks, in one transaction. */
const applyDue = async (deps: ReportDeps, now: number): Promise<Applied> =>
  await transact(deps.platform.pool, async (tx) => await applyRows(deps, tx, await inTurn(tx, await takeDue(tx, isoTime(now)), isoTime(now)), now))

async function applyRows(deps: ReportDeps, tx: Db, rows: readonly ReportRow[], now: number): Promise<Applied> {
  if (rows.length === 0) return nothing
  const receipts = rows.filter((row) => row.report.kind === 'receipt')
  const { late, changed } = await applyReceipts(deps, tx, receipts, isoTime(now))
  await applyInbound(
    deps,
    tx,
    rows.filter((row) => row.report.kind === 'inbound'),
  )
  const postponed = late.filter((row) => mayWait(row, now))
  await postpone(tx, postponed, now)
  const kept = new Set(postponed.map(({ id }) => id))
  await removeAt(
    tx,
    rows.filter(({ id }) => !kept.has(id)).map(({ place }) => place),
  )
  return { reports: rows.length, changed }
}

const mayWait = ({ created_at }: ReportRow, now: number): boolean => now - Date.parse(created_at) < keepMs

const dueReports = (sql: Db, at: string) => sql`select ctid::text as place, * from provider_reports where due_at <= ${at} order by due_at, id limit ${batchMax}`

const seeDue = async (sql: Db, at: string): Promise<ReportRow[]> => await sql<ReportRow[]>`${dueReports(sql, at)}`

const takeDue = async (tx: Db, at: string): Promise<ReportRow[]> => await tx<ReportRow[]>`${dueReports(tx, at)} for update skip locked`

/** Those of these reports that no earlier one of the same message precedes: another process may have that in hand, and the later one must not overtake it. */
async function inTurn(tx: Db, rows: readonly ReportRow[], at: string): Promise<ReportRow[]> {
  const asked = rows
    .filter(({ provider_id }) => provider_id !== null)
    .map(({ id, channel_id, provider_id, due_at }) => ({ id, channel_id, provider_id, due_at }))
  if (asked.length === 0) return [...rows]
  const overtaking = await tx<{ id: string }[]>`
    with own as materialized (
      select * from json_to_recordset(${jsonRows(asked)}::text::json) as t(id text, channel_id text, provider_id text, due_at timestamptz)
    )
    select o.id from own o join provider_reports r on r.channel_id = o.channel_id and r.provider_id = o.provider_id
    where r.due_at <= ${at} and (r.due_at, r.id) < (o.due_at, o.id) and not exists (select from own where own.id = r.id)`
  const late = new Set(overtaking.map(({ id }) => id))
  return rows.filter(({ id }) => !late.has(id))
}

const takeOne = async (tx: Db, { due_at, id }: ReportRow): Promise<ReportRow[]> =>
  await tx<ReportRow[]>`select ctid::text as place, * from provider_reports where due_at = ${due_at} and id = ${id} for update skip locked`

/** Applies the receipts of messages that this process remembers and that are one step with one event. */
async function applyQuickly(deps: ReportDeps, due: readonly ReportRow[], at: string): Promise<Applied> {
  // a failure is applied under locks, and what came after it must not overtake it
  const failing = new Set(due.flatMap(({ provider_id, report }) => (report.kind === 'receipt' && report.transition === 'fail' ? [provider_id] : [])))
  const rows = new Map<string, MessageRow>()
  const receipts = due.flatMap(({ id, place, channel_id, provider_id, report }): ReceiptWrite[] => {
    const request = report.kind === 'receipt' && !failing.has(provider_id) ? rememberedRequest(deps, { channel_id, provider_id, report }, at) : undefined
    const step = request === undefined ? null : stepOf(request.row, [request])
    if (step?.emitted.length !== 1) return []
    rows.set(step.after.id, step.after)
    return [{ ...writeOf(deps.platform, step), report_id: id, place }]
  })
  const written = await writeReceipts(deps.platform.pool, deps.followers, receipts)
  return { reports: written.size, changed: [...written].map((id) => rows.get(id)!) }
}

async function removeAt(tx: Db, places: readonly string[]): Promise<void> {
  if (places.length > 0) await tx`delete from provider_reports where ctid = any(${[...places]}::text[]::tid[])`
}

interface ReferenceRow {
  channel_id: string
  provider_id: string
  account_id: Tenant['account_id']
  mode: Tenant['mode']
  message_id: string
  parts: number
}

/** Applies receipts; resolves to those whose message is not known yet, and to the messages that changed. */
async function applyReceipts(
  deps: ReportDeps,
  tx: Db,
  rows: readonly ReportRow[],
  at: string,
): Promise<{ late: readonly ReportRow[]; changed: readonly MessageRow[] }> {
  if (rows.length === 0) return { late: [], changed: [] }
  const soon: TransitionRequest[] = []
  const others = rows.filter((row) => {
    const remembered = rememberedRequest(deps, row, at)
    if (remembered !== undefined) soon.push(remembered)
    return remembered === undefined
  })
  const references = await findReferences(tx, others)
  const known = others.flatMap((row) => {
    const reference = references.get(`${row.channel_id} ${row.provider_id}`)
    return reference === undefined ? [] : [{ reference, receipt: row.report as Receipt }]
  })
  const whole = known.filter(({ reference }) => reference.parts === 1).map(({ reference, receipt }) => requestOf(reference, receipt, receipt.transition, at))
  const parts = await requestsOfParts(
    tx,
    known.filter(({ reference }) => reference.parts > 1),
    at,
  )
  const changed = await applyTransitions(deps, tx, [...soon, ...whole, ...parts])
  return { late: others.filter((row) => !references.has(`${row.channel_id} ${row.provider_id}`)), changed: [...changed.values()] }
}

async function findReferences(tx: Db, rows: readonly ReportRow[]): Promise<Map<string, ReferenceRow>> {
  if (rows.length === 0) return new Map()
  const wanted = rows.map(({ channel_id, provider_id }) => ({ channel_id, provider_id }))
  const found = await tx<ReferenceRow[]>`
    select r.channel_id, r.provider_id, r.account_id, r.mode, r.message_id, r.parts
    from json_to_recordset(${jsonRows(wanted)}::text::json) as t(channel_id text, provider_id text)
    join provider_references r on r.channel_id = t.channel_id and r.provider_id = t.provider_id`
  return new Map(found.map((row) => [`${row.channel_id} ${row.provider_id}`, row]))
}

const requestOf = (
  reference: Pick<ReferenceRow, 'account_id' | 'mode' | 'message_id'>,
  receipt: Receipt,
  transition: Receipt['transition'],
  at: string,
): TransitionRequest => ({
  account_id: reference.account_id,
  mode: reference.mode,
  message_id: reference.message_id,
  transition,
  at,
  ...(receipt.error === undefined ? {} : { error: receipt.error }),
})

/** What a receipt asks of the message that this process remembers by the provider's id, if it does; once. */
function rememberedRequest(
  deps: ReportDeps,
  { channel_id, provider_id, report }: Pick<ReportRow, 'channel_id' | 'provider_id' | 'report'>,
  at: string,
): (TransitionRequest & { readonly row: MessageRow }) | undefined {
  const row = deps.recent.take(channel_id, provider_id ?? '')
  if (row === undefined) return undefined
  const receipt = report as Receipt
  return { ...requestOf({ account_id: row.account_id as Tenant['account_id'], mode: row.mode, message_id: row.id }, receipt, receipt.transition, at), row }
}

const ranks: readonly (string | null)[] = [null, 'accept', 'deliver', 'open']

/** A message of several parts is as far as the least advanced of them, and failed when one is. */
async function requestsOfParts(tx: Db, receipts: readonly { reference: ReferenceRow; receipt: Receipt }[], at: string): Promise<TransitionRequest[]> {
  const requests: TransitionRequest[] = []
  for (const { reference, receipt } of receipts) {
    if (receipt.transition === 'fail') requests.push(requestOf(reference, receipt, 'fail', at))
    await tx`
      update provider_references set status = ${receipt.transition} where channel_id = ${reference.channel_id} and provider_id = ${reference.provider_id}
        and (status is null or array_position(array['accept', 'deliver', 'open'], status) < array_position(array['accept', 'deliver', 'open'], ${receipt.transition}::text))`
    const parts = await tx<{ status: string | null }[]>`select status from provider_references where message_id = ${reference.message_id} and parts > 1`
    const least = ranks[Math.min(...parts.map(({ status }) => Math.max(0, ranks.indexOf(status))))]
    if (least === 'deliver' || least === 'open') requests.push(requestOf(reference, receipt, least, at))
  }
  return requests
}

async function applyInbound(deps: ReportDeps, tx: Db, rows: readonly ReportRow[]): Promise<void> {
  const inbound: NewInbound[] = []
  for (const { account_id, mode, channel_id, report } of rows) {
    const channel = await deps.channels.find({ account_id, mode }, channel_id)
    const { from, profile_name, type, content, reply_to, provider_id } = report as InboundMessage
    // a channel deleted since has nobody to tell
    if (channel === null) continue
    inbound.push({
      account_id,
      mode,
      channel,
      from,
      profile_name,
      type,
      content,
      provider_id,
      reply_to: reply_to === null ? null : await messageOf(tx, channel_id, reply_to),
    })
  }
  await storeInbound(deps, tx, inbound)
}

async function messageOf(tx: Db, channel_id: string, provider_id: string): Promise<string | null> {
  const [row] = await tx<{ message_id: string }[]>`select message_id from provider_references where channel_id = ${channel_id} and provider_id = ${provider_id}`
  return row?.message_id ?? null
}

async function postpone(tx: Db, rows: readonly ReportRow[], now: number): Promise<void> {
  if (rows.length === 0) return
  const times = rows.map(({ place, attempts }) => ({ place, due_at: isoTime(now + Math.min(200 * 2 ** Math.min(attempts, 20), waitMaxMs)) }))
  await tx`
    update provider_reports r set due_at = t.due_at, attempts = r.attempts + 1
    from json_to_recordset(${jsonRows(times)}::text::json) as t(place tid, due_at timestamptz) where r.ctid = t.place`
}
