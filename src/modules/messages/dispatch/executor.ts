/** The executor: hands jobs to their providers with no transaction open, after a last look at whether they may go, and passes on what came of them. */
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
  /** While it is true no other process takes requests or works. */
  readonly alone: () => boolean
}

export interface Executor {
  /** Hands these jobs over, which are running from here on; resolves when each has its outcome. Never rejects. */
  handOver(jobs: readonly Job[]): Promise<void>
  /** Ends jobs that have outlived their validity, at once and not at their channel's rate. */
  expire(jobs: readonly Job[]): void
  /** Writes `sending` for what was handed over until then and does not say so. */
  persistSends(until_ms: number): Promise<void>
  /** Resolves when nothing is being handed over. */
  finished(): Promise<void>
}

/** A job and the channel on which it may go. */
interface Ready {
  readonly job: Job
  readonly channel: ChannelRow
}

/** What could not be handed over for a fault of ours is due again then. */
const retryMs = 1000
/** So long waits one that cannot be made ready: its channel's credentials cannot be opened, say, until somebody gives the key back. */
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

/** A message that its provider may have does not expire before a receipt of it has been applied that is stored. Never rejects. */
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

/** By this every job leaves that was to go and does not: it ends with an outcome, or is out of hand. Where it was a probe, another may go in its place. */
function leave(deps: ExecutorDeps, job: Job, kind?: Ended['outcome']['kind']): void {
  if (job.probe === true) deps.circuits.notHandedOver(job.row.channel_id, deps.platform.clock.now())
  if (kind === undefined) deps.jobs.end(job)
  else end(deps, job, kind)
}

/** Gives jobs back that do not go now. Never rejects: a claim that could not be given back ends by itself. */
async function leaveInTable(deps: ExecutorDeps, jobs: readonly Job[], due_ms?: number): Promise<void> {
  await giveBack(deps.platform, jobs, due_ms).catch(() => undefined)
  for (const job of jobs) leave(deps, job)
}

/** Sorts out what must not be handed over. */
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
  // nothing fails from here on: a job that has left is not given back besides
  for (const [at, job] of jobs.entries()) {
    const channel = found[at]!
    rates.set(job.row.channel_id, channel === null ? null : channels.rateOf(channel))
    if (gone.has(job) || (job.row.status !== 'queued' && job.row.status !== 'sending')) leave(deps, job, 'gone')
    else if (toldOf.has(job.row.id)) told.push(job)
    else if (platform.ageing.isPast(validUntil(job), job.row.created_at)) leave(deps, job, 'expired')
    else if (blocked.has(job.row.id)) leave(deps, job, 'blocked')
    else if (channel === null) endOfDeleted(deps, job)
    else if (notBefore.has(job)) later.push(job)
    else if (!mayGo(channels, deps.sessions, channel)) down.push(job)
    else ready.push({ job: deps.jobs.latest(job), channel })
  }
  // they wait in the table until the channel is up again, or for the process that holds its session
  await leaveInTable(deps, down)
  for (const { row } of down) if (deps.circuits.linkLost(row.channel_id, now)) await deps.pauses.end(row.channel_id)
  await postpone(deps, later, notBefore)
  // until its receipt has been applied, which may be that of a process which has only just begun
  await leaveInTable(deps, told, now + retryMs)
  return ready
}

/** Gives jobs back until they may go. Never rejects: a claim that could not be given back ends by itself. */
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
  // the others need not wait for its provider
  deps.circuits.forget(job.row.channel_id)
  leave(deps, job, 'channel_deleted')
}

/**
 * Those that this process has lost since it claimed them: a receipt told that the provider has the message, or another process took it over. It is asked of what was handed over before,
 * whose status tells nothing of it; the status of what was not, another process would have changed.
 */
async function goneMeanwhile({ platform, jobs: inHand }: ExecutorDeps, jobs: readonly Job[]): Promise<Set<Job>> {
  const repeated = jobs.filter(({ row, outcome_unknown }) => outcome_unknown || row.status === 'sending')
  const claims = repeated.map(({ row, lease_until_ms }) => ({
    message_id: row.id,
    lease_until: isoTime(lease_until_ms),
  }))
  const held = await listHeld(platform.pool, platform.process_id, claims)
  // receipts may have proved more of it
  for (const job of repeated) inHand.update(job, { accepted_ids: held.get(job.row.id) ?? [] })
  return new Set(repeated.filter(({ row }) => !held.has(row.id)))
}

/**
 * Writes `sending` where the provider takes its time, unless this process is alone and so can tell by itself (docs/decisions/sending-unwritten.md); a
 * message that was cancelled meanwhile is dropped.
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
    // should the cancelling come to nothing, the job is claimed again when its lease ends
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

/** Changes to `sending`; resolves to the ids of those that could be. */
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

/** What a provider is given of a message. */
interface Given {
  readonly message: OutboundMessage
  readonly connection: Connection
}

/** Never rejects: what goes wrong with one message is nothing to the others. Once a hand-over may have begun, its job is never given back as if it had not. */
async function perform(deps: ExecutorDeps, ready: Ready, signal: AbortSignal): Promise<void> {
  const { job, channel } = ready
  const about = { message_id: job.row.id, channel_id: channel.id }
  let given: Given
  try {
    given = { message: await outboundOf(deps.platform, job), connection: deps.channels.connection(channel) }
  } catch (error) {
    // a fault of ours, which is nothing against the provider
    deps.platform.log.error(
      { err: error, ...about },
      'a message could not be made ready for its provider; it is tried again',
    )
    return await leaveInTable(deps, [job], deps.platform.clock.now() + faultRetryMs)
  }
  try {
    // whatever took so long until here: the claim covers the whole hand-over
    if (job.lease_until_ms - deps.platform.clock.now() < sendTimeoutMs) return await leaveInTable(deps, [job])
    await performGiven(deps, ready, given, signal)
  } catch (error) {
    // its claim stays: when it ends the job is taken over as one that the provider may have
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
  // a receipt may have told meanwhile what the provider did not tell when it was asked
  if (told === null && isAsked && (await goneMeanwhile(deps, [job])).has(job)) return leave(deps, job, 'gone')
  const message = { ...given.message, already_accepted: deps.jobs.latest(job).accepted_ids ?? [] }
  // with nothing awaited between this and the hand-over: a process that slept sends nothing that another may have taken over
  if (told === null && !isOurs(deps, job.row)) return await leaveInTable(deps, [job])
  metrics.dispatch_lag_seconds.observe({ channel_type: channel.type }, Math.max(0, began_ms - job.due_ms) / 1000)
  const parts = partsTaken(platform, deps.jobs, job)
  const work = () => whileOurs(deps, job, () => send(deps, adapter, channel, { ...given, message }, signal, parts.took))
  const outcome = told ?? outcomeOf(job, await traced(platform, job, channel, work).finally(parts.end))
  const at_ms = clock.now()
  // a provider that took parts until we stopped has answered
  const heard: Told = parts.stopped() ? { kind: 'accepted' } : outcome
  if (told === null) metrics.attempts.inc({ kind: 'message', outcome: outcome.kind })
  // what was written of it meanwhile: that it is being handed over, or what was taken of it
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

/** A hand-over behind a fence: a request that is written late, by a process that slept, may be one that another has made. */
const whileOurs = (deps: ExecutorDeps, { row }: Job, work: () => Promise<Outcome>): Promise<Outcome> =>
  row.mode === 'test' ? work() : fenced(() => isOurs(deps, row), work)

/** A hand-over as part of the trace of the request that sent the message, where this process knows it. */
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
