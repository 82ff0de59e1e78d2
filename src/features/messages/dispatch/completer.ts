/** What a provider answered, written set-wise in one transaction: status, references, attempts, follow-ups, and the job ended or given back. */
import { limits } from '../../../contract/limits.ts'
import type { MessageRow } from '../rows.ts'
import { isoTime } from '../../../lib/clock.ts'
import { jsonRows, sqlState, transact, type Db } from '../../../platform/database/sql.ts'
import type { Outcome, Receipt, Report } from '../../channels/adapter.ts'
import { applyTransitions, stepOf, writeOf, type TransitionDeps, type TransitionRequest } from '../transitions/transitions.ts'
import { endGoneJobs } from './store.ts'
import { writeAcceptances, type Acceptance } from '../transitions/store.ts'
import type { Recent } from './provider-ids.ts'

/** A message in the hands of this process. */
export interface Job {
  /** As this process last wrote it. */
  row: MessageRow
  /** Hand-overs so far. */
  attempts: number
  /** Taken from the table, not handed on in memory. */
  readonly claimed: boolean
  readonly due_ms: number
  /** When the claim ends; nothing is handed over after it. */
  readonly lease_until_ms: number
}

/** `expired`, `blocked` and `gone` end a job without a hand-over. */
export type Settlement =
  | { readonly job: Job; readonly provider: string; readonly outcome: Outcome; readonly duration_ms: number; readonly at_ms: number; readonly instant: boolean }
  | { readonly job: Job; readonly outcome: { readonly kind: 'expired' | 'blocked' | 'gone' | 'channel_deleted' }; readonly at_ms: number }

const unknownWaitMs = 30_000
const backoffMaxMs = 60_000

export interface SettleDeps extends TransitionDeps {
  readonly recent: Recent
}

/** Writes what became of hand-overs: plain acceptances in one statement, everything else, and whatever that did not cover, in a transaction. */
export async function settle(deps: SettleDeps, settlements: readonly Settlement[]): Promise<void> {
  const plain = settlements.flatMap((settlement) => plainAcceptance(deps, settlement))
  const written = await writeAcceptances(
    deps.platform.pool,
    deps.followers,
    plain.map(({ acceptance }) => acceptance),
  ).catch((error: unknown) => {
    // a provider that names a message as it named another, or a hand-over told twice: the transaction passes over what is there
    if (sqlState(error) === '23505') return new Set<string>()
    throw error
  })
  for (const { acceptance, row } of plain) if (written.has(row.id)) deps.recent.remember(row.channel_id, acceptance.provider_id, row)
  const rest = settlements.filter(({ job }) => !written.has(job.row.id))
  if (rest.length > 0) await settleInTransaction(deps, rest)
}

/** A settlement that is one step with one event, one reference and at most one report to keep; none otherwise. */
function plainAcceptance({ platform }: SettleDeps, settlement: Settlement): { acceptance: Acceptance; row: MessageRow }[] {
  if (!('provider' in settlement)) return []
  const { job, outcome, at_ms, duration_ms, provider } = settlement
  if (outcome.kind !== 'accepted') return []
  const [provider_id, ...more] = outcome.provider_ids
  const [report, ...others] = outcome.reports ?? []
  const step = stepOf(job.row, transitionsOf(settlement))
  if (provider_id === undefined || more.length > 0 || others.length > 0 || step?.after.status !== 'sent' || step.emitted.length !== 1) return []
  const kept = report === undefined ? null : newReport(platform.ids('req'), job.row, report.report, at_ms, report.after_ms)
  const acceptance = { ...writeOf(platform, step), provider, provider_id, attempt_id: platform.ids('att'), number: job.attempts + 1, duration_ms, report: kept }
  return [{ acceptance, row: step.after }]
}

async function settleInTransaction(deps: SettleDeps, settlements: readonly Settlement[]): Promise<void> {
  const { pool } = deps.platform
  const changed = await transact(pool, async (tx) => {
    const moved = await applyTransitions(deps, tx, settlements.flatMap(transitionsOf))
    // what a provider within this process took left nothing behind: cancelled meanwhile, the message was never handed over
    const told = settlements.filter((settlement) => !('instant' in settlement && settlement.instant) || moved.has(settlement.job.row.id))
    await insertReferences(tx, told)
    await insertReports(tx, deps, told)
    await insertAttempts(tx, deps, told)
    await endJobs(
      tx,
      settlements.filter((settlement) => nextDue(settlement) === null && settlement.outcome.kind !== 'gone').map(({ job }) => job.row.id),
    )
    await endGoneJobs(
      tx,
      deps.platform.process_id,
      settlements.filter(({ outcome }) => outcome.kind === 'gone').map(({ job }) => job.row.id),
      isoTime(deps.platform.clock.now()),
    )
    await giveBackJobs(
      tx,
      settlements.flatMap((settlement) => {
        const due_ms = nextDue(settlement)
        return due_ms === null ? [] : [{ message_id: settlement.job.row.id, due_at: isoTime(due_ms), attempts: settlement.job.attempts + 1 }]
      }),
    )
    return moved
  })
  for (const { job, outcome } of settlements) {
    const row = changed.get(job.row.id)
    // a message of several parts is as far as the least of them: that is read
    if (row !== undefined && outcome.kind === 'accepted' && outcome.provider_ids.length === 1)
      deps.recent.remember(row.channel_id, outcome.provider_ids[0]!, row)
  }
}

/** Until when a message may be handed over, in milliseconds. */
export const validUntil = ({ row }: Job): number => {
  if (row.expires_at !== null) return Date.parse(row.expires_at)
  // a time in the past means at once
  return Math.max(Date.parse(row.created_at), row.send_at === null ? 0 : Date.parse(row.send_at)) + limits.message_validity_ms
}

/** When a hand-over is repeated; null when the job has ended. */
function nextDue({ job, outcome, at_ms }: Settlement): number | null {
  if (outcome.kind === 'unknown') return at_ms + unknownWaitMs
  if (outcome.kind !== 'throttled' && outcome.kind !== 'unavailable') return null
  const wait_ms = Math.min(500 * 2 ** Math.min(job.attempts, 10), backoffMaxMs)
  const due_ms = at_ms + Math.max(wait_ms, outcome.kind === 'throttled' ? Math.min(outcome.retry_after_ms ?? 0, backoffMaxMs) : 0)
  // a message that expires while it waits is looked at when it does
  return job.row.expires_at === null ? due_ms : Math.min(due_ms, Math.max(at_ms, Date.parse(job.row.expires_at)))
}

function transitionsOf(settlement: Settlement): TransitionRequest[] {
  const { job, outcome, at_ms } = settlement
  const { row } = job
  const instant = 'instant' in settlement && settlement.instant
  const request = { account_id: row.account_id as TransitionRequest['account_id'], mode: row.mode, message_id: row.id, at: isoTime(at_ms), row }
  // it may have been handed over without a word of it
  const claim: TransitionRequest[] = 'provider' in settlement ? [{ ...request, transition: 'claim', at: isoTime(at_ms - settlement.duration_ms) }] : []
  switch (outcome.kind) {
    case 'accepted':
      return [
        ...claim,
        { ...request, transition: 'accept' },
        ...soonReceipts(outcome, instant).map((receipt) => ({
          ...request,
          transition: receipt.transition,
          ...(receipt.error === undefined ? {} : { error: receipt.error }),
        })),
      ]
    case 'refused':
      return [...claim, { ...request, transition: 'fail', error: { code: outcome.code, message: outcome.message, provider_code: outcome.provider_code } }]
    case 'expired':
      return [
        { ...request, transition: 'fail', error: { code: 'expired', message: 'The message was not handed over within its validity.', provider_code: null } },
      ]
    case 'blocked':
      return [
        {
          ...request,
          transition: 'fail',
          error: { code: 'recipient_blocked', message: 'The recipient opted out or was blocked before the message was handed over.', provider_code: null },
        },
      ]
    case 'channel_deleted':
      return [
        {
          ...request,
          transition: 'fail',
          error: { code: 'channel_not_connected', message: 'The channel was deleted before the message was handed over.', provider_code: null },
        },
      ]
    default:
      return claim
  }
}

/** The receipts of a provider that answers at once, and that are due at once: they are applied with the answer. */
function soonReceipts(outcome: Outcome & { kind: 'accepted' }, instant: boolean): Receipt[] {
  if (!instant) return []
  return (outcome.reports ?? []).flatMap(({ after_ms, report }) => (after_ms === 0 && report.kind === 'receipt' ? [report] : []))
}

async function insertReferences(tx: Db, settlements: readonly Settlement[]): Promise<void> {
  const references = settlements.flatMap(({ job: { row }, outcome, at_ms }) =>
    outcome.kind !== 'accepted'
      ? []
      : outcome.provider_ids.map((provider_id, part) => ({
          channel_id: row.channel_id,
          provider_id,
          account_id: row.account_id,
          mode: row.mode,
          message_id: row.id,
          part,
          parts: outcome.provider_ids.length,
          created_at: isoTime(at_ms),
        })),
  )
  if (references.length === 0) return
  await tx`
    insert into provider_references (channel_id, provider_id, account_id, mode, message_id, part, parts, created_at)
    select channel_id, provider_id, account_id, mode, message_id, part, parts, created_at
    from json_to_recordset(${jsonRows(references)}::text::json) as t(channel_id text, provider_id text, account_id text, mode text, message_id text, part smallint, parts smallint, created_at timestamptz)
    on conflict (channel_id, provider_id) do nothing`
}

async function insertReports(tx: Db, { platform }: TransitionDeps, settlements: readonly Settlement[]): Promise<void> {
  const reports = settlements.flatMap((settlement) => {
    const {
      job: { row },
      outcome,
      at_ms,
    } = settlement
    if (outcome.kind !== 'accepted') return []
    const soon = new Set<Report>(soonReceipts(outcome, 'instant' in settlement && settlement.instant))
    return (outcome.reports ?? [])
      .filter(({ report }) => !soon.has(report))
      .map(({ after_ms, report }) => newReport(platform.ids('req'), row, report, at_ms, after_ms))
  })
  await storeReports(tx, reports)
}

export interface NewReport {
  readonly id: string
  readonly account_id: string
  readonly mode: string
  readonly channel_id: string
  readonly provider_id: string | null
  readonly report: Report
  readonly due_at: string
  readonly created_at: string
}

const newReport = (id: string, row: Pick<MessageRow, 'account_id' | 'mode' | 'channel_id'>, report: Report, at_ms: number, after_ms: number): NewReport => ({
  id,
  account_id: row.account_id,
  mode: row.mode,
  channel_id: row.channel_id,
  provider_id: report.kind === 'receipt' ? report.provider_id : null,
  report,
  due_at: isoTime(at_ms + after_ms),
  created_at: isoTime(at_ms),
})

/** Keeps reports until they are applied by the lane `reports`. */
export async function storeReports(tx: Db, reports: readonly NewReport[]): Promise<void> {
  if (reports.length === 0) return
  await tx`
    insert into provider_reports (id, account_id, mode, channel_id, provider_id, report, due_at, created_at)
    select id, account_id, mode, channel_id, provider_id, report, due_at, created_at
    from json_to_recordset(${jsonRows(reports)}::text::json) as t(id text, account_id text, mode text, channel_id text, provider_id text, report json, due_at timestamptz, created_at timestamptz)`
}

async function insertAttempts(tx: Db, { platform }: TransitionDeps, settlements: readonly Settlement[]): Promise<void> {
  const attempts = settlements.flatMap((settlement) => {
    if (!('provider' in settlement)) return []
    const { job, provider, outcome, duration_ms, at_ms } = settlement
    return [
      {
        account_id: job.row.account_id,
        mode: job.row.mode,
        message_id: job.row.id,
        number: job.attempts + 1,
        id: platform.ids('att'),
        provider,
        outcome: outcome.kind,
        provider_code: 'provider_code' in outcome ? outcome.provider_code : null,
        provider_message: 'message' in outcome ? outcome.message : null,
        duration_ms,
        created_at: isoTime(at_ms),
      },
    ]
  })
  if (attempts.length === 0) return
  await tx`
    insert into message_attempts (account_id, mode, message_id, number, id, provider, outcome, provider_code, provider_message, duration_ms, created_at)
    select account_id, mode, message_id, number, id, provider, outcome, provider_code, provider_message, duration_ms, created_at
    from json_to_recordset(${jsonRows(attempts)}::text::json) as t(account_id text, mode text, message_id text, number int, id text, provider text, outcome text, provider_code text,
      provider_message text, duration_ms int, created_at timestamptz)
    on conflict (message_id, number) do nothing`
}

/** Ends the jobs of these messages. */
export async function endJobs(tx: Db, message_ids: readonly string[]): Promise<void> {
  if (message_ids.length === 0) return
  await tx`delete from dispatch_jobs where message_id = any(${[...message_ids]}::text[])`
}

/** Gives jobs back to be claimed again at their time; the attempts count goes with them. */
async function giveBackJobs(tx: Db, jobs: readonly { message_id: string; due_at: string; attempts: number }[]): Promise<void> {
  if (jobs.length === 0) return
  await tx`
    update dispatch_jobs j set due_at = t.due_at, attempts = t.attempts, process_id = null
    from json_to_recordset(${jsonRows(jobs)}::text::json) as t(message_id text, due_at timestamptz, attempts int)
    where j.message_id = t.message_id`
}
