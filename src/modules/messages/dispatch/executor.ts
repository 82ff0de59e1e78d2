/** The executor checks jobs a last time and makes their send attempts. */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime, withDeadline } from '../../../lib/clock.ts'
import { fenced } from '../../../lib/fence.ts'
import { withinTrace } from '../../../lib/trace-context.ts'
import { mayPass } from '../../../platform/database/failures.ts'
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
import { listNamedByReceipts } from '../callbacks/repository.ts'
import { applyTransitions, type TransitionDeps } from '../transitions.ts'
import { queryStatus } from './status-query.ts'
import type { CircuitBreakers, Answer } from './circuit-breakers.ts'
import type { Completer } from './completer.ts'
import { type Unsent, outcomeOf } from './completion.ts'
import type { ConsentRecheck } from './consent.ts'
import { partialAcceptance } from './partial-acceptance.ts'
import { maySend } from './blocked-channels.ts'
import type { InProgress } from './in-progress.ts'
import type { ChannelLeases } from './leases.ts'
import { type Job, jobsNotBefore, sendTimeoutMs, type SendTimes, type Sessions, validUntil } from './job.ts'
import type { Pauses } from './pauses.ts'
import { listOwned, postponeMessages } from './repository.ts'
import type { ChannelRates } from './rates.ts'
import { releaseClaims, isOurs } from './scheduler.ts'

export interface ExecutorDeps extends TransitionDeps {
  readonly channels: ChannelService
  readonly jobs: InProgress
  readonly rates: ChannelRates
  readonly circuitBreakers: CircuitBreakers
  readonly pauses: Pick<Pauses, 'begin' | 'end'>
  readonly sessions: Sessions
  readonly leases: Pick<ChannelLeases, 'holds'>
  readonly consent: ConsentRecheck
  readonly sendTimes: readonly SendTimes[]
  readonly complete: Completer['complete']
  readonly alone: () => boolean
}

export interface Executor {
  /** Resolves when each job has its outcome. Never rejects. */
  sendAll(jobs: readonly Job[]): Promise<void>
  expire(jobs: readonly Job[]): void
  /** Fails messages that cannot be read. */
  setAside(jobs: readonly Job[]): void
  /** For attempts begun until then whose messages are still `queued`. */
  persistSends(until_ms: number): Promise<void>
  finished(): Promise<void>
}

interface Ready {
  readonly job: Job
  readonly channel: ChannelRow
}

/** After an internal error. */
const retryMs = 1000
/** For jobs that cannot be prepared. */
const faultRetryMs = 30_000

export function executor(deps: ExecutorDeps): Executor {
  const underWay = new Set<Promise<void>>()
  return {
    sendAll(jobs) {
      const work = sendAll(deps, jobs).finally(() => underWay.delete(work))
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
    setAside(jobs) {
      for (const job of jobs) {
        deps.jobs.begin(job)
        end(deps, job, 'unreadable')
      }
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

const end = ({ complete, jobs, platform }: ExecutorDeps, job: Job, kind: Unsent['outcome']['kind']): void =>
  complete({ job: jobs.latest(job), outcome: { kind }, at_ms: platform.clock.now() })

async function sendAll(deps: ExecutorDeps, jobs: readonly Job[]): Promise<void> {
  const { clock, log } = deps.platform
  for (const job of jobs) deps.jobs.begin(job)
  let open = jobs
  try {
    const prepared = await prepareApart(deps, jobs)
    open = prepared.map(({ job }) => job)
    const ready = await persistBeforehand(deps, prepared)
    await withDeadline(clock, sendTimeoutMs, (signal) => Promise.all(ready.map((one) => perform(deps, one, signal))))
  } catch (error) {
    log.error({ err: error }, 'messages could not be sent; they are claimed again')
    await release(deps, open, clock.now() + retryMs)
  }
}

/** Stored receipts are applied first. Never rejects. */
async function expireOutcomeUnknown(deps: ExecutorDeps, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return
  const later_ms = deps.platform.clock.now() + retryMs
  try {
    const namedByReceipts = await listNamedByReceipts(deps.platform.pool, jobs.map(namesOf))
    for (const job of jobs) if (!namedByReceipts.has(job.row.id)) end(deps, job, 'expired')
    await release(
      deps,
      jobs.filter(({ row }) => namedByReceipts.has(row.id)),
      later_ms,
    )
  } catch (error) {
    deps.platform.log.error(
      { err: error },
      'receipts of expiring messages could not be looked up; the messages are claimed again',
    )
    await release(deps, jobs, later_ms)
  }
}

const namesOf = ({ row }: Job) => ({ message_id: row.id, channel_id: row.channel_id })

/** If the job was a probe, another message may be. */
function leave(deps: ExecutorDeps, job: Job, kind?: Unsent['outcome']['kind']): void {
  if (job.probe === true) deps.circuitBreakers.probeNotSent(job.row.channel_id, deps.platform.clock.now())
  if (kind === undefined) deps.jobs.end(job)
  else end(deps, job, kind)
}

/** Never rejects: a claim that could not be released expires. */
async function release(deps: ExecutorDeps, jobs: readonly Job[], due_ms?: number): Promise<void> {
  await releaseClaims(deps.platform, jobs, due_ms).catch(() => undefined)
  for (const job of jobs) leave(deps, job)
}

/** In halves after a failure: a message that cannot be prepared must not hold back the others. */
async function prepareApart(deps: ExecutorDeps, jobs: readonly Job[]): Promise<Ready[]> {
  try {
    return await prepare(deps, jobs)
  } catch (error) {
    if (mayPass(error)) throw error
    deps.platform.log.error({ err: error, messages: jobs.length }, 'messages could not be prepared together')
  }
  if (jobs.length === 1) {
    await release(deps, jobs, deps.platform.clock.now() + faultRetryMs)
    return []
  }
  const half = Math.ceil(jobs.length / 2)
  return [...(await prepareApart(deps, jobs.slice(0, half))), ...(await prepareApart(deps, jobs.slice(half)))]
}

async function prepare(deps: ExecutorDeps, jobs: readonly Job[]): Promise<Ready[]> {
  const { platform, channels, rates } = deps
  const now = platform.clock.now()
  const blocked = await deps.consent.blockedAmong(jobs)
  const superseded = await findSuperseded(deps, jobs)
  const namedByReceipts = await listNamedByReceipts(
    platform.pool,
    jobs.filter(({ outcome_unknown }) => outcome_unknown).map(namesOf),
  )
  const notBefore = await jobsNotBefore(deps.sendTimes, jobs)
  const found: (ChannelRow | null)[] = []
  for (const { row } of jobs) found.push(await channels.find(tenantOf(row), row.channel_id))
  const ready: Ready[] = []
  const down: Job[] = []
  const later: Job[] = []
  const awaitingReceipt: Job[] = []
  // nothing below may fail, or jobs would be released twice
  for (const [at, job] of jobs.entries()) {
    const channel = found[at]!
    rates.set(job.row.channel_id, channel === null ? null : channels.rateOf(channel))
    if (superseded.has(job) || (job.row.status !== 'queued' && job.row.status !== 'sending'))
      leave(deps, job, 'superseded')
    else if (namedByReceipts.has(job.row.id)) awaitingReceipt.push(job)
    else if (platform.retention_clock.isPast(validUntil(job), job.row.created_at)) leave(deps, job, 'expired')
    else if (blocked.has(job.row.id)) leave(deps, job, 'blocked')
    else if (channel === null) failForDeletedChannel(deps, job)
    else if (notBefore.has(job)) later.push(job)
    else if (!maySend(channels, deps.sessions, channel)) down.push(job)
    else ready.push({ job: deps.jobs.latest(job), channel })
  }
  // until the channel is up, or for the process that has its session
  await release(deps, down)
  for (const { row } of down)
    if (deps.circuitBreakers.disconnected(row.channel_id, now)) await deps.pauses.end(row.channel_id)
  await postpone(deps, later, notBefore)
  // until the receipt is applied; it may belong to an attempt of another process
  await release(deps, awaitingReceipt, now + retryMs)
  return ready
}

async function postpone(deps: ExecutorDeps, jobs: readonly Job[], notBefore: ReadonlyMap<Job, number>): Promise<void> {
  const { pool, process_id, log } = deps.platform
  const postponed = jobs.map((job) => ({
    ...tenantOf(job.row),
    message_id: job.row.id,
    next_run_at: isoTime(notBefore.get(job)!),
  }))
  await postponeMessages(pool, process_id, postponed).catch((error: unknown) =>
    log.error({ err: error }, 'messages could not be postponed; they are checked again when their claims end'),
  )
  for (const job of jobs) leave(deps, job)
}

function failForDeletedChannel(deps: ExecutorDeps, job: Job): void {
  // the other messages fail too, without the provider
  deps.circuitBreakers.forget(job.row.channel_id)
  leave(deps, job, 'channel_deleted')
}

/**
 * Rescued jobs, and jobs of messages that receipts prove accepted. The status shows it for jobs that were never sent.
 */
async function findSuperseded({ platform, jobs: inProgress }: ExecutorDeps, jobs: readonly Job[]): Promise<Set<Job>> {
  const repeated = jobs.filter(({ row, outcome_unknown }) => outcome_unknown || row.status === 'sending')
  const claims = repeated.map(({ row, lease_until_ms }) => ({
    message_id: row.id,
    lease_until: isoTime(lease_until_ms),
  }))
  const owned = await listOwned(platform.pool, platform.process_id, claims)
  // receipts may have proved more accepted parts
  for (const job of repeated) inProgress.update(job, { accepted_ids: owned.get(job.row.id) ?? [] })
  return new Set(repeated.filter(({ row }) => !owned.has(row.id)))
}

/** Before an attempt at a slow provider, unless this process is alone (docs/decisions/sending-unwritten.md). */
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
  const superseded = new Set(slow.flatMap(({ job }) => (written.has(job.row.id) ? [] : [job])))
  for (const job of superseded) leave(deps, job, 'superseded')
  return ready.flatMap(({ job, channel }) => (superseded.has(job) ? [] : [{ job: deps.jobs.latest(job), channel }]))
}

async function writeSending(
  deps: ExecutorDeps,
  attempts: readonly { job: Job; at_ms: number }[],
): Promise<Set<string>> {
  const changed = await applyTransitions(
    deps,
    deps.platform.pool,
    attempts.map(({ job: { row }, at_ms }) => ({
      ...tenantOf(row),
      message_id: row.id,
      transition: 'claim' as const,
      at: isoTime(at_ms),
      row,
    })),
  )
  for (const { job } of attempts) {
    const row = changed.get(job.row.id)
    if (row !== undefined) deps.jobs.update(job, { row })
  }
  deps.projections.wake([...changed.values()])
  return new Set(changed.keys())
}

interface ProviderInput {
  readonly message: OutboundMessage
  readonly connection: Connection
}

/** Never rejects. Once the attempt may have begun, the job is not released as unsent. */
async function perform(deps: ExecutorDeps, ready: Ready, signal: AbortSignal): Promise<void> {
  const { job, channel } = ready
  const about = { message_id: job.row.id, channel_id: channel.id }
  let input: ProviderInput
  try {
    input = { message: await outboundOf(deps.platform, job), connection: deps.channels.connection(channel) }
  } catch (error) {
    // an internal error does not count against the provider
    deps.platform.log.error({ err: error, ...about }, 'a message could not be prepared for its provider; it is retried')
    return await release(deps, [job], deps.platform.clock.now() + faultRetryMs)
  }
  try {
    // the claim must cover the whole attempt
    if (job.lease_until_ms - deps.platform.clock.now() < sendTimeoutMs) return await release(deps, [job])
    await attempt(deps, ready, input, signal)
  } catch (error) {
    // when the claim ends, the job is rescued with an unknown outcome
    deps.platform.log.error(
      { err: error, ...about },
      'the outcome of a send attempt could not be processed; the message is rescued when its claim ends',
    )
    deps.jobs.end(job)
  }
}

/** If the provider can be asked, an earlier attempt with an unknown outcome is queried first. */
async function attempt(deps: ExecutorDeps, ready: Ready, input: ProviderInput, signal: AbortSignal): Promise<void> {
  const { job, channel } = ready
  const { clock } = deps.platform
  const adapter = deps.channels.adapterOf(channel)
  const started = { began_ms: clock.now(), elapsed_ms: clock.elapsed(), instant: adapter?.instant === true }
  const isQueried = job.outcome_unknown && adapter?.queryStatus !== undefined
  const result = isQueried ? await queryStatus(deps.platform, { job, adapter, ...input }, signal) : 'no_information'
  if (typeof result !== 'string') {
    observeLag(deps, ready, started.began_ms)
    return await complete(deps, ready, result, { ...started, statusQuery: true })
  }
  // a receipt may have arrived during the status query
  if (isQueried && (await findSuperseded(deps, [job])).has(job)) return leave(deps, job, 'superseded')
  const message = { ...input.message, already_accepted: deps.jobs.latest(job).accepted_ids ?? [] }
  // nothing is awaited between this check and the attempt: after the process slept, another one may have the job
  if (!isOurs(deps, job.row)) return await release(deps, [job])
  observeLag(deps, ready, started.began_ms)
  const parts = partialAcceptance(deps.platform, deps.jobs, job)
  const work = () =>
    whileOurs(deps, job, () => send(deps, adapter, channel, { ...input, message }, signal, parts.onPartAccepted))
  const outcome = outcomeOf(job, await traced(deps.platform, job, channel, work).finally(parts.end))
  deps.platform.metrics.attempts.inc({ kind: 'message', outcome: outcome.kind })
  await complete(deps, ready, outcome, { ...started, notFound: result === 'not_found', stopped: parts.stopped() })
}

const observeLag = ({ platform }: ExecutorDeps, { job, channel }: Ready, began_ms: number): void =>
  platform.metrics.dispatch_lag_seconds.observe(
    { channel_type: channel.type },
    Math.max(0, began_ms - job.due_ms) / 1000,
  )

interface Circumstances {
  readonly began_ms: number
  readonly elapsed_ms: number
  readonly instant: boolean
  readonly statusQuery?: true
  readonly notFound?: boolean
  readonly stopped?: boolean
}

async function complete(
  deps: ExecutorDeps,
  { job, channel }: Ready,
  outcome: Outcome,
  { began_ms, elapsed_ms, instant, statusQuery, notFound = false, stopped = false }: Circumstances,
): Promise<void> {
  const { clock } = deps.platform
  const at_ms = clock.now()
  const completion = {
    // `sending` or accepted parts may have been written meanwhile
    job: deps.jobs.latest(job),
    provider: channel.provider,
    outcome,
    began_ms,
    duration_ms: Math.round(clock.elapsed() - elapsed_ms),
    at_ms,
    instant,
    notFound,
  }
  deps.complete(statusQuery === true ? { ...completion, statusQuery } : completion)
  if (job.row.mode !== 'live') return
  // a provider that accepted parts until we stopped has answered
  const answer: Answer = stopped ? { kind: 'accepted' } : outcome
  await recordAnswer(deps, job, answer, { began_ms, now_ms: at_ms, isQuery: statusQuery === true })
}

/** Stops late requests of a process that slept: another one may have made the attempt. */
const whileOurs = (deps: ExecutorDeps, { row }: Job, work: () => Promise<Outcome>): Promise<Outcome> =>
  row.mode === 'test' ? work() : fenced(() => isOurs(deps, row), work)

/** As part of the request that sent the message, if known. */
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
 * Status queries have their own limits, so only throttling counts. If the query was a probe, a message may be sent
 * instead.
 */
async function recordAnswer(
  { circuitBreakers, pauses, platform }: ExecutorDeps,
  { row, probe }: Job,
  answer: Answer,
  { isQuery, ...when }: { readonly began_ms: number; readonly now_ms: number; readonly isQuery: boolean },
): Promise<void> {
  if (isQuery && answer.kind !== 'throttled') {
    if (probe !== true || answer.kind === 'unknown') return
    circuitBreakers.probeNotSent(row.channel_id, when.now_ms)
    platform.wake('dispatch')
    return
  }
  const change = circuitBreakers.record(row, answer, { ...when, to: row.to, probe: probe === true })
  if (change === 'over') await pauses.end(row.channel_id)
  else if (change !== null) await pauses.begin(change)
}

async function send(
  deps: ExecutorDeps,
  adapter: ProviderAdapter | undefined,
  { id, provider }: ChannelRow,
  { message, connection }: ProviderInput,
  signal: AbortSignal,
  onPartAccepted: OnPartAccepted,
): Promise<Outcome> {
  if (adapter === undefined)
    return {
      kind: 'unavailable',
      provider_code: null,
      message: `The provider ${provider} is not part of this service.`,
    }
  try {
    if (adapter.send !== undefined) return await adapter.send(message, connection, signal, onPartAccepted)
    const session = deps.sessions.find(id)
    if (session?.send === undefined)
      return { kind: 'unavailable', provider_code: null, message: 'The channel has no session with its provider.' }
    return await session.send(message, signal, onPartAccepted)
  } catch (error) {
    deps.platform.log.error(
      { err: error, message_id: message.id, provider },
      'a provider adapter failed without an answer',
    )
    return { kind: 'unknown', message: 'The provider did not answer.' }
  }
}

async function outboundOf({ pool }: Platform, { row, attempts, accepted_ids = [] }: Job): Promise<OutboundMessage> {
  const { id, channel_id, to, from, type, content, expires_at } = row
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
    first_sent_at: row.sending_at,
    already_accepted: accepted_ids,
    expires_at,
  }
}
