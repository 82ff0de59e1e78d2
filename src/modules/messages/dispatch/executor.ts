/** The executor: checks jobs a last time, makes the send attempts with no transaction open, and passes on their outcomes. */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime, withDeadline } from '../../../lib/clock.ts'
import { fenced } from '../../../lib/fence.ts'
import { withinTrace } from '../../../lib/trace-context.ts'
import type { Platform } from '../../../platform/platform.ts'
import type {
  ProviderAdapter,
  Connection,
  OutboundMessage,
  Outcome,
  OnPartAccepted,
} from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import { findProviderId } from '../references-repository.ts'
import { listToldOf } from '../callbacks/repository.ts'
import { applyTransitions, type TransitionDeps } from '../transitions.ts'
import { ask } from './status-query.ts'
import type { Circuits, Told } from './circuit-breakers.ts'
import type { Completer } from './completer.ts'
import { type Ended, outcomeOf } from './completion.ts'
import type { ConsentRecheck } from './consent.ts'
import { partsTaken } from './partial-acceptance.ts'
import { mayGo } from './blocked-channels.ts'
import type { InHand } from './in-progress.ts'
import type { ChannelLeases } from './leases.ts'
import { type Job, jobsNotBefore, sendTimeoutMs, type SendTimes, type Sessions, validUntil } from './job.ts'
import type { Pauses } from './pauses.ts'
import { listHeld, postponeMessages } from './repository.ts'
import type { ChannelRates } from './rates.ts'
import { giveBack, isOurs } from './scheduler.ts'

export interface ExecutorDeps extends TransitionDeps {
  readonly channels: ChannelService
  readonly jobs: InHand
  readonly rates: ChannelRates
  readonly circuits: Circuits
  readonly pauses: Pick<Pauses, 'begin' | 'end'>
  readonly sessions: Sessions
  readonly leases: Pick<ChannelLeases, 'holds'>
  readonly consent: ConsentRecheck
  readonly sendTimes: readonly SendTimes[]
  readonly complete: Completer['complete']
  /** True while no other process accepts or sends messages. */
  readonly alone: () => boolean
}

export interface Executor {
  /** Makes the send attempts of these jobs. Resolves when each has its outcome. Never rejects. */
  handOver(jobs: readonly Job[]): Promise<void>
  /** Ends expired jobs at once, regardless of their channel's rate. */
  expire(jobs: readonly Job[]): void
  /** Writes `sending` for attempts that began until then and whose messages are still `queued`. */
  persistSends(until_ms: number): Promise<void>
  /** Resolves when no send attempt is in progress. */
  finished(): Promise<void>
}

/** A job and its channel. */
interface Ready {
  readonly job: Job
  readonly channel: ChannelRow
}

/** Jobs that failed for a reason of ours are due again after this time. */
const retryMs = 1000
/** The same for jobs that cannot be prepared, for example because the credentials of the channel cannot be decrypted. */
const faultRetryMs = 30_000

export function executor(deps: ExecutorDeps): Executor {
  const underWay = new Set<Promise<void>>()
  return {
    handOver(jobs) {
      const work = handOver(deps, jobs).finally(() => underWay.delete(work))
      underWay.add(work)
      return work
    },
    expire(jobs) {
      for (const job of jobs) deps.jobs.begin(job)
      for (const job of jobs) if (!job.outcome_unknown) end(deps, job, 'expired')
      const work = expireOutcomeUnknown(
        deps,
        jobs.filter(({ outcome_unknown }) => outcome_unknown),
      ).finally(() => underWay.delete(work))
      underWay.add(work)
    },
    async persistSends(until_ms) {
      const late = deps.jobs.unpersisted.since(until_ms, deps.platform.clock.now())
      if (late.length === 0) return
      await writeSending(deps, late)
      for (const { job } of late) deps.jobs.unpersisted.end(job.row.id)
    },
    async finished() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

const end = ({ complete, jobs, platform }: ExecutorDeps, job: Job, kind: Ended['outcome']['kind']): void =>
  complete({ job: jobs.latest(job), outcome: { kind }, at_ms: platform.clock.now() })

async function handOver(deps: ExecutorDeps, jobs: readonly Job[]): Promise<void> {
  const { clock, log } = deps.platform
  for (const job of jobs) deps.jobs.begin(job)
  let open = jobs
  try {
    const prepared = await prepare(deps, jobs)
    open = prepared.map(({ job }) => job)
    const ready = await persistBeforehand(deps, prepared)
    await withDeadline(clock, sendTimeoutMs, (signal) => Promise.all(ready.map((one) => perform(deps, one, signal))))
  } catch (error) {
    log.error({ err: error }, 'messages could not be handed over; they are claimed again')
    await leaveInTable(deps, open, clock.now() + retryMs)
  }
}

/** A message with an unknown outcome does not expire before its stored receipts are applied. Never rejects. */
async function expireOutcomeUnknown(deps: ExecutorDeps, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return
  const later_ms = deps.platform.clock.now() + retryMs
  try {
    const toldOf = await listToldOf(deps.platform.pool, jobs.map(namesOf))
    for (const job of jobs) if (!toldOf.has(job.row.id)) end(deps, job, 'expired')
    await leaveInTable(
      deps,
      jobs.filter(({ row }) => toldOf.has(row.id)),
      later_ms,
    )
  } catch (error) {
    deps.platform.log.error(
      { err: error },
      'whether receipts tell of messages that expire could not be looked up; they are claimed again',
    )
    await leaveInTable(deps, jobs, later_ms)
  }
}

const namesOf = ({ row }: Job) => ({ message_id: row.id, channel_id: row.channel_id })

/** Every job that is not sent leaves here: with an outcome, or released. If it was a probe, another message may be the probe. */
function leave(deps: ExecutorDeps, job: Job, kind?: Ended['outcome']['kind']): void {
  if (job.probe === true) deps.circuits.notHandedOver(job.row.channel_id, deps.platform.clock.now())
  if (kind === undefined) deps.jobs.end(job)
  else end(deps, job, kind)
}

/** Releases jobs. Never rejects: a claim that could not be released ends by itself. */
async function leaveInTable(deps: ExecutorDeps, jobs: readonly Job[], due_ms?: number): Promise<void> {
  await giveBack(deps.platform, jobs, due_ms).catch(() => undefined)
  for (const job of jobs) leave(deps, job)
}

/** Sorts out jobs that must not be sent. */
async function prepare(deps: ExecutorDeps, jobs: readonly Job[]): Promise<Ready[]> {
  const { platform, channels, rates } = deps
  const now = platform.clock.now()
  const blocked = await deps.consent.blockedAmong(jobs)
  const gone = await goneMeanwhile(deps, jobs)
  const toldOf = await listToldOf(platform.pool, jobs.filter(({ outcome_unknown }) => outcome_unknown).map(namesOf))
  const notBefore = await jobsNotBefore(deps.sendTimes, jobs)
  const found: (ChannelRow | null)[] = []
  for (const { row } of jobs) found.push(await channels.find(tenantOf(row), row.channel_id))
  const ready: Ready[] = []
  const down: Job[] = []
  const later: Job[] = []
  const told: Job[] = []
  // nothing fails from here on, so no job is released twice
  for (const [at, job] of jobs.entries()) {
    const channel = found[at]!
    rates.set(job.row.channel_id, channel === null ? null : channels.rateOf(channel))
    if (gone.has(job) || (job.row.status !== 'queued' && job.row.status !== 'sending')) leave(deps, job, 'gone')
    else if (toldOf.has(job.row.id)) told.push(job)
    else if (platform.retention_clock.isPast(validUntil(job), job.row.created_at)) leave(deps, job, 'expired')
    else if (blocked.has(job.row.id)) leave(deps, job, 'blocked')
    else if (channel === null) endOfDeleted(deps, job)
    else if (notBefore.has(job)) later.push(job)
    else if (!mayGo(channels, deps.sessions, channel)) down.push(job)
    else ready.push({ job: deps.jobs.latest(job), channel })
  }
  // they wait until the channel is up, or for the process that holds its session
  await leaveInTable(deps, down)
  for (const { row } of down) if (deps.circuits.linkLost(row.channel_id, now)) await deps.pauses.end(row.channel_id)
  await postpone(deps, later, notBefore)
  // until the receipt is applied; it may belong to an attempt that another process has just begun
  await leaveInTable(deps, told, now + retryMs)
  return ready
}

/** Releases jobs until they may be sent. Never rejects: a claim that could not be released ends by itself. */
async function postpone(deps: ExecutorDeps, jobs: readonly Job[], notBefore: ReadonlyMap<Job, number>): Promise<void> {
  const { pool, process_id, log } = deps.platform
  const postponed = jobs.map((job) => ({
    ...tenantOf(job.row),
    message_id: job.row.id,
    next_run_at: isoTime(notBefore.get(job)!),
  }))
  await postponeMessages(pool, process_id, postponed).catch((error: unknown) =>
    log.error({ err: error }, 'messages could not be put off; they are looked at again when their claims end'),
  )
  for (const job of jobs) leave(deps, job)
}

function endOfDeleted(deps: ExecutorDeps, job: Job): void {
  // the other messages fail too and need not wait for the provider
  deps.circuits.forget(job.row.channel_id)
  leave(deps, job, 'channel_deleted')
}

/**
 * Jobs that this process has lost since it claimed them: a receipt proved that the provider has the message, or another
 * process rescued it. Only re-check jobs that were sent before: their status does not show whether another process
 * rescued them.
 */
async function goneMeanwhile({ platform, jobs: inHand }: ExecutorDeps, jobs: readonly Job[]): Promise<Set<Job>> {
  const repeated = jobs.filter(({ row, outcome_unknown }) => outcome_unknown || row.status === 'sending')
  const claims = repeated.map(({ row, lease_until_ms }) => ({
    message_id: row.id,
    lease_until: isoTime(lease_until_ms),
  }))
  const held = await listHeld(platform.pool, platform.process_id, claims)
  // receipts may have proved more accepted parts
  for (const job of repeated) inHand.update(job, { accepted_ids: held.get(job.row.id) ?? [] })
  return new Set(repeated.filter(({ row }) => !held.has(row.id)))
}

/**
 * Writes `sending` before an attempt at a slow provider, unless this process is alone
 * (docs/decisions/sending-unwritten.md). Drops messages that were cancelled meanwhile.
 */
async function persistBeforehand(deps: ExecutorDeps, ready: readonly Ready[]): Promise<readonly Ready[]> {
  const { channels, platform } = deps
  const { unpersisted } = deps.jobs
  const at_ms = platform.clock.now()
  const slow = ready.filter(
    ({ job, channel }) => job.row.status === 'queued' && channels.adapterOf(channel)?.instant !== true,
  )
  if (slow.length === 0) return ready
  if (deps.alone()) {
    const cancelled = new Set(slow.flatMap(({ job }) => (unpersisted.refuses(job.row.id) ? [job] : [])))
    for (const { job } of slow) if (!cancelled.has(job)) unpersisted.begin(job, at_ms)
    // if the cancellation fails, the job is claimed again when its lease ends
    for (const job of cancelled) leave(deps, job)
    return ready.filter(({ job }) => !cancelled.has(job))
  }
  const written = await writeSending(
    deps,
    slow.map(({ job }) => ({ job, at_ms })),
  )
  const gone = new Set(slow.flatMap(({ job }) => (written.has(job.row.id) ? [] : [job])))
  for (const job of gone) leave(deps, job, 'gone')
  return ready.flatMap(({ job, channel }) => (gone.has(job) ? [] : [{ job: deps.jobs.latest(job), channel }]))
}

/** Resolves to the ids of messages that changed to `sending`. */
async function writeSending(deps: ExecutorDeps, handed: readonly { job: Job; at_ms: number }[]): Promise<Set<string>> {
  const changed = await applyTransitions(
    deps,
    deps.platform.pool,
    handed.map(({ job: { row }, at_ms }) => ({
      ...tenantOf(row),
      message_id: row.id,
      transition: 'claim' as const,
      at: isoTime(at_ms),
      row,
    })),
  )
  for (const { job } of handed) {
    const row = changed.get(job.row.id)
    if (row !== undefined) deps.jobs.update(job, { row })
  }
  deps.projections.wake([...changed.values()])
  return new Set(changed.keys())
}

/** What the provider gets. */
interface Given {
  readonly message: OutboundMessage
  readonly connection: Connection
}

/** Never rejects, and does not affect other messages. Once the attempt may have begun, the job is never released as if it had not. */
async function perform(deps: ExecutorDeps, ready: Ready, signal: AbortSignal): Promise<void> {
  const { job, channel } = ready
  const about = { message_id: job.row.id, channel_id: channel.id }
  let given: Given
  try {
    given = { message: await outboundOf(deps.platform, job), connection: deps.channels.connection(channel) }
  } catch (error) {
    // a fault of ours does not count against the provider
    deps.platform.log.error(
      { err: error, ...about },
      'a message could not be made ready for its provider; it is tried again',
    )
    return await leaveInTable(deps, [job], deps.platform.clock.now() + faultRetryMs)
  }
  try {
    // the claim must cover the whole send attempt
    if (job.lease_until_ms - deps.platform.clock.now() < sendTimeoutMs) return await leaveInTable(deps, [job])
    await performGiven(deps, ready, given, signal)
  } catch (error) {
    // the claim stays: when it ends, the job is rescued with an unknown outcome
    deps.platform.log.error(
      { err: error, ...about },
      'what came of a message could not be told; it is looked at again when its claim ends',
    )
    deps.jobs.end(job)
  }
}

async function performGiven(
  deps: ExecutorDeps,
  { job, channel }: Ready,
  given: Given,
  signal: AbortSignal,
): Promise<void> {
  const { channels, platform } = deps
  const { clock, metrics } = platform
  const adapter = channels.adapterOf(channel)
  const [began_ms, began_elapsed_ms] = [clock.now(), clock.elapsed()]
  const isAsked = job.outcome_unknown && adapter?.queryStatus !== undefined
  const answer = isAsked ? await ask(platform, { job, adapter, ...given }, signal) : 'no_information'
  const neverHad = answer === 'not_found'
  const told = typeof answer === 'string' ? null : answer
  // a receipt may have arrived during the status query
  if (told === null && isAsked && (await goneMeanwhile(deps, [job])).has(job)) return leave(deps, job, 'gone')
  const message = { ...given.message, already_accepted: deps.jobs.latest(job).accepted_ids ?? [] }
  // nothing is awaited between this check and the attempt: after the process slept, another one may have the job
  if (told === null && !isOurs(deps, job.row)) return await leaveInTable(deps, [job])
  metrics.dispatch_lag_seconds.observe({ channel_type: channel.type }, Math.max(0, began_ms - job.due_ms) / 1000)
  const parts = partsTaken(platform, deps.jobs, job)
  const work = () => whileOurs(deps, job, () => send(deps, adapter, channel, { ...given, message }, signal, parts.took))
  const outcome = told ?? outcomeOf(job, await traced(platform, job, channel, work).finally(parts.end))
  const at_ms = clock.now()
  // a provider that accepted parts until we stopped has answered
  const heard: Told = parts.stopped() ? { kind: 'accepted' } : outcome
  if (told === null) metrics.attempts.inc({ kind: 'message', outcome: outcome.kind })
  // written meanwhile: the status `sending`, or accepted parts
  const handedOver = {
    job: deps.jobs.latest(job),
    provider: channel.provider,
    outcome,
    began_ms,
    duration_ms: Math.round(clock.elapsed() - began_elapsed_ms),
    at_ms,
    instant: adapter?.instant === true,
    neverHad,
  }
  deps.complete(told === null ? handedOver : { ...handedOver, asked: true })
  if (job.row.mode === 'live') await heed(deps, job, heard, { began_ms, now_ms: at_ms, asked: told !== null })
}

/** A send attempt behind a fence: a process that slept must not write a request late that another process has made. */
const whileOurs = (deps: ExecutorDeps, { row }: Job, work: () => Promise<Outcome>): Promise<Outcome> =>
  row.mode === 'test' ? work() : fenced(() => isOurs(deps, row), work)

/** A send attempt as part of the trace of the request that sent the message, where it is known. */
async function traced(
  { tracing }: Platform,
  { row }: Job,
  { provider, type }: ChannelRow,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const parent = tracing.of(row.id)
  const span = tracing.start(`send ${type}`, 'client', parent, {
    'messaging.operation.type': 'send',
    'messaging.message.id': row.id,
    'posthorn.provider': provider,
    'posthorn.channel_id': row.channel_id,
    'posthorn.account_id': row.account_id,
  })
  if (span === undefined) return await withinTrace(parent, work)
  const outcome = await withinTrace(span.context, work)
  span.end({ attributes: { 'posthorn.outcome': outcome.kind }, failed: outcome.kind !== 'accepted' })
  return outcome
}

/**
 * What the provider's answer means for the channel. A question is answered, or not, by another part of the provider, within limits of its own: what it told, or that it told nothing, counts
 * neither for the provider nor against it. Where the question was a probe, a message may go instead; one that had no answer leaves the next probe to its time.
 */
async function heed(
  { circuits, pauses, platform }: ExecutorDeps,
  { row, probe }: Job,
  heard: Told,
  { asked, ...when }: { readonly began_ms: number; readonly now_ms: number; readonly asked: boolean },
): Promise<void> {
  if (asked && heard.kind !== 'throttled') {
    if (probe !== true || heard.kind === 'unknown') return
    circuits.notHandedOver(row.channel_id, when.now_ms)
    platform.wake('dispatch')
    return
  }
  const change = circuits.note(row, heard, { ...when, to: row.to, probe: probe === true })
  if (change === 'over') await pauses.end(row.channel_id)
  else if (change !== null) await pauses.begin(change)
}

async function send(
  deps: ExecutorDeps,
  adapter: ProviderAdapter | undefined,
  { id, provider }: ChannelRow,
  { message, connection }: Given,
  signal: AbortSignal,
  took: OnPartAccepted,
): Promise<Outcome> {
  if (adapter === undefined)
    return {
      kind: 'unavailable',
      provider_code: null,
      message: `The provider ${provider} is not part of this service.`,
    }
  try {
    if (adapter.send !== undefined) return await adapter.send(message, connection, signal, took)
    const session = deps.sessions.find(id)
    if (session?.send === undefined)
      return { kind: 'unavailable', provider_code: null, message: 'The channel has no session with its provider.' }
    return await session.send(message, signal, took)
  } catch (error) {
    deps.platform.log.error({ err: error, message_id: message.id, provider }, 'a provider failed without an answer')
    return { kind: 'unknown', message: 'The provider did not answer.' }
  }
}

async function outboundOf({ pool }: Platform, { row, attempts, accepted_ids = [] }: Job): Promise<OutboundMessage> {
  const { id, channel_id, to, from, type, content, expires_at, sending_at: handed_over_at } = row
  const reply_to = row.reply_to === null ? null : await findProviderId(pool, tenantOf(row), channel_id, row.reply_to)
  return {
    id,
    channel_id,
    to,
    from,
    type,
    content,
    reply_to,
    attempt: attempts + 1,
    first_sent_at: handed_over_at,
    already_accepted: accepted_ids,
    expires_at,
  }
}
