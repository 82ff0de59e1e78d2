/** The scheduler decides which jobs are due, in memory, and may run (docs/decisions/slow-channels.md). */
import { priorities, type Priority, ranks } from '../../../api/resources/message.ts'
import { limits } from '../../../api/limits.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ChannelService } from '../../channels/service.ts'
import type { MessageRow } from '../message.ts'
import { blockedChannels, type BlockedChannels } from './blocked-channels.ts'
import type { InProgress } from './in-progress.ts'
import { expiredSearch, type ExpiredSearch } from './expiry.ts'
import { listDueQueues } from './queues-repository.ts'
import { type Job, queueOf, sendTimeoutMs, type Sessions, validUntil } from './job.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import type { ChannelLeases } from './leases.ts'
import type { Pauses } from './pauses.ts'
import { type ChannelRates, rateWakes, type RateWakes } from './rates.ts'
import * as store from './repository.ts'
import { claimReadable, type ReadableClaim } from './unreadable.ts'

export const leaseMs = 60_000
/** No attempt starts this shortly before its claim ends. */
const leaseMarginMs = sendTimeoutMs + 5000
const inFlightMax = 1000
/** Places for channels with nothing in flight, one each. */
const inFlightReserved = 200
const inFlightPerQueueMax = 400
const inFlightPerQueueMin = 10
/** Per channel, in seconds at its rate. */
const inFlightSeconds = 2
const memoryMax = 20_000
const memoryPerTickMax = 500
/** Of the messages in memory one account may take this part. */
const accountShare = 4
const queuesMax = 500
/** Includes queues without due jobs; PostgreSQL takes about 20 ms for them. */
const queuesScannedMax = 2000
const busyPollEveryMs = 200
/** Per channel, in seconds at its rate. */
const memorySeconds = 3

export interface SchedulerDeps {
  readonly platform: Platform
  readonly channels: ChannelService
  readonly jobs: InProgress
  readonly leases: ChannelLeases
  readonly rates: ChannelRates
  readonly circuitBreakers: CircuitBreakers
  readonly pauses: Pauses
  readonly sessions: Sessions
  /** False in a process without workers. */
  readonly inMemory: boolean
  expire(jobs: readonly Job[]): void
  /** Ends jobs whose messages cannot be read. */
  setAside(jobs: readonly Job[]): void
}

export interface Offered {
  readonly account_id: string
  readonly channel_id: string
  readonly sandbox: boolean
  readonly priority: Priority
}

export interface Scheduler {
  accepts(item: Offered): boolean
  offer(rows: readonly MessageRow[], lease_until_ms: number): void
  claim(): Promise<number>
  /** Within the rates of channels and a fair share of the places in flight. */
  ready(): Job[]
  /** Ends expired jobs, and releases those whose claims are about to end. */
  sweep(): Promise<void>
  /** Releases waiting jobs without counting an attempt. */
  stop(): Promise<void>
}

interface State extends SchedulerDeps {
  readonly blocked: BlockedChannels
  readonly expired: ExpiredSearch
  readonly wakes: RateWakes
  /** For messages being accepted, per queue and priority; only on channels with a rate. */
  readonly reserved: Map<string, number>
  stopping: boolean
  polled_ms: number
  cursor: string
  unreleased: readonly Job[]
}

export function scheduler(deps: SchedulerDeps): Scheduler {
  const { platform, jobs } = deps
  const state: State = {
    ...deps,
    blocked: blockedChannels(deps),
    expired: expiredSearch(platform),
    wakes: rateWakes(platform),
    reserved: new Map(),
    stopping: false,
    polled_ms: -Infinity,
    cursor: '',
    unreleased: [],
  }
  return {
    accepts: (item) => accepts(state, item),
    offer(rows, lease_until_ms) {
      state.reserved.clear()
      for (const row of rows)
        if (!jobs.unpersisted.refuses(row.id))
          jobs.add({
            row,
            attempts: 0,
            claimed: false,
            outcome_unknown: false,
            due_ms: Date.parse(row.created_at),
            lease_until_ms,
          })
      platform.notify('dispatch')
    },
    claim: () => claim(state),
    ready: () => ready(state),
    async sweep() {
      // messages that were not accepted after all never arrive
      state.reserved.clear()
      const now = platform.clock.now()
      deps.expire(
        jobs.drop(
          (job) => job.row.expires_at !== null && platform.retention_clock.isPast(validUntil(job), job.row.created_at),
        ),
      )
      await releaseDropped(
        state,
        jobs.drop((job) => job.lease_until_ms - leaseMarginMs <= now),
      )
    },
    async stop() {
      state.stopping = true
      state.wakes.stop()
      await releaseDropped(
        state,
        jobs.drop(() => true),
      )
    },
  }
}

/** By default jobs keep their due times, and so their order. */
export const releaseClaims = async (
  { pool, process_id }: Platform,
  jobs: readonly Job[],
  due_ms?: number,
): Promise<void> =>
  await store.releaseJobs(
    pool,
    process_id,
    jobs.map((job) => ({ message_id: job.row.id, next_run_at: isoTime(due_ms ?? job.due_ms) })),
  )

function accepts(state: State, item: Offered): boolean {
  const { jobs, circuitBreakers, inMemory, stopping } = state
  if (stopping || !inMemory || jobs.waiting.size >= memoryMax || charactersLeft(state, item) <= 0) return false
  return (
    item.sandbox ||
    (isMine(state, item.channel_id) && !circuitBreakers.isOpen(item.channel_id) && hasCapacityFor(state, item))
  )
}

/** How much more memory the messages of an account may take. */
const charactersLeft = ({ jobs }: SchedulerDeps, { account_id }: { readonly account_id: string }): number =>
  Math.min(
    limits.memory_characters_max - jobs.characters,
    limits.memory_characters_max / accountShare - jobs.charactersOf(account_id),
  )

const capacityOf = (
  { rates, jobs }: SchedulerDeps,
  row: { account_id: string; channel_id: string },
  priority: Priority,
): number => Math.ceil(rates.within(row.channel_id, memorySeconds)) - jobs.waiting.count(queueOf(row), priority)

function hasCapacityFor(state: State, item: Offered): boolean {
  const capacity = capacityOf(state, item, item.priority)
  if (capacity === Infinity) return true
  const key = `${queueOf(item)} ${item.priority}`
  const reserved = state.reserved.get(key) ?? 0
  if (reserved >= capacity) return false
  state.reserved.set(key, reserved + 1)
  return true
}

async function claim(state: State): Promise<number> {
  const { pool, clock, process_id } = state.platform
  const { waiting } = state.jobs
  await releaseForeign(state)
  const rows_max = Math.min(memoryMax - waiting.size, memoryPerTickMax)
  const bytes_max = Math.min(limits.memory_characters_max - state.jobs.characters, limits.claim_bytes_max)
  const [now, elapsed] = [clock.now(), clock.elapsed()]
  // the table is polled rarely while memory has enough, for the sake of other queues
  if (
    state.stopping ||
    rows_max <= 0 ||
    bytes_max <= 0 ||
    (waiting.size >= memoryPerTickMax && elapsed - state.polled_ms < busyPollEveryMs)
  )
    return 0
  state.polled_ms = elapsed
  const { mine, blocked } = await dueQueues(state, now)
  const failing = mine.filter(({ channel_id }) => state.circuitBreakers.isOpen(channel_id))
  const healthy = mine.filter((queue) => !failing.includes(queue))
  const lease_until_ms = now + leaseMs
  const lease_until = isoTime(lease_until_ms)
  const full = healthy.filter((queue) => priorities.some((priority) => capacityOf(state, queue, priority) <= 0))
  const expired = await state.expired.claim([...blocked, ...failing, ...full], lease_until, rows_max)
  state.expire(jobsOf(state, expired.rows, lease_until_ms))
  state.setAside(jobsOf(state, expired.setAside, lease_until_ms))
  const claim = { at: isoTime(now), lease_until, process_id }
  const capacities = capacitiesOf(state, healthy, rows_max)
  const due = await claimReadable(state.platform, (part) =>
    store.claimJobs(pool, { ...claim, capacities, rows_max, bytes_max }, part),
  )
  // claimed jobs are in memory before anything else can fail
  await addClaimed(state, due, lease_until_ms)
  const wanted = probesOf(state, failing)
  const probes = await claimReadable(state.platform, (part) =>
    store.claimProbes(pool, { ...claim, probes: wanted }, part),
  )
  await addClaimed(state, probes, lease_until_ms, { probe: true })
  return [due, probes, expired].reduce((sum, { rows, setAside }) => sum + rows.length + setAside.length, 0)
}

async function addClaimed(
  state: State,
  { rows, setAside }: ReadableClaim,
  lease_until_ms: number,
  more: Pick<Job, 'probe'> = {},
): Promise<void> {
  await addToMemory(
    state,
    jobsOf(state, rows, lease_until_ms).map((job) => ({ ...job, ...more })),
  )
  state.setAside(jobsOf(state, setAside, lease_until_ms))
}

async function addToMemory(state: State, claimed: readonly Job[]): Promise<void> {
  if (state.stopping) await releaseDropped(state, claimed)
  else for (const job of claimed) state.jobs.add(job)
}

/**
 * Failures are retried with the next release; otherwise the jobs would be rescued as possibly sent. They do not return
 * to memory, because the release may have succeeded.
 */
async function releaseDropped(state: State, jobs: readonly Job[]): Promise<void> {
  // a job claimed again was released after all
  const unreleased = [...state.unreleased, ...jobs].filter(({ row }) => !state.jobs.has(row.id))
  state.unreleased = unreleased
  await releaseClaims(state.platform, unreleased)
  const released = new Set(unreleased)
  state.unreleased = state.unreleased.filter((job) => !released.has(job))
}

/** While a channel is paused, the probe is chosen among all its messages, not only those in memory. */
async function releaseForeign(state: State): Promise<void> {
  const { circuitBreakers, jobs } = state
  // one check per queue, because usually all jobs stay
  if (
    state.unreleased.length === 0 &&
    jobs.waiting.heads().every(({ row }) => isOurs(state, row) && !circuitBreakers.isOpen(row.channel_id))
  )
    return
  await releaseDropped(
    state,
    jobs.drop((job) => !mayRun(state, job)),
  )
}

const mayRun = (state: State, job: Job): boolean =>
  isOurs(state, job.row) && (job.probe === true || !state.circuitBreakers.isOpen(job.row.channel_id))

/** Only if none is in memory. */
const probesOf = ({ circuitBreakers, jobs }: State, queues: readonly store.DueQueue[]): store.WantedProbe[] =>
  queues
    .filter((queue) => priorities.every((priority) => jobs.waiting.count(queue.queue, priority) === 0))
    .map(({ queue, channel_id }) => ({ queue, choice: circuitBreakers.probeChoice(channel_id) }))

async function dueQueues(
  state: State,
  now: number,
): Promise<{ mine: readonly store.DueQueue[]; blocked: readonly store.DueQueue[] }> {
  const { due, next } = await listDueQueues(state.platform.pool, isoTime(now), state.cursor, {
    queues_max: queuesMax,
    scanned_max: queuesScannedMax,
  })
  state.cursor = next
  state.pauses.dropUnowned((channel_id) => isMine(state, channel_id))
  for (const { channel_id } of due) state.leases.use(channel_id)
  if (due.length === 0) return { mine: [], blocked: [] }
  const { open, blocked } = await state.blocked.split(due)
  for (const { channel_id } of blocked) {
    const probe_ms = state.circuitBreakers.probeAt(channel_id)
    if (probe_ms !== null && probe_ms > now) state.wakes.at(probe_ms)
  }
  const wanted = open
    .filter(({ mode, channel_id }) => mode === 'live' && !isMine(state, channel_id))
    .map(({ channel_id }) => channel_id)
  await state.leases.take([...new Set(wanted)])
  await adoptPauses(state, open)
  return { mine: open.filter(({ mode, channel_id }) => mode === 'test' || isMine(state, channel_id)), blocked }
}

async function adoptPauses(state: State, queues: readonly store.DueQueue[]): Promise<void> {
  const live = queues.filter(({ mode }) => mode === 'live')
  await state.pauses.adopt(live.flatMap(({ channel_id }) => (isMine(state, channel_id) ? [channel_id] : [])))
}

export interface Ownership {
  readonly leases: Pick<ChannelLeases, 'holds'>
  readonly sessions: Pick<Sessions, 'sends'>
}

/** Whether this process dispatches the channel. */
const isMine = ({ leases, sessions }: Ownership, channel_id: string): boolean =>
  leases.holds(channel_id) || sessions.sends(channel_id)

/** Every process may send messages of test mode. */
export const isOurs = (ownership: Ownership, { mode, channel_id }: Pick<MessageRow, 'mode' | 'channel_id'>): boolean =>
  mode === 'test' || isMine(ownership, channel_id)

function capacitiesOf(state: State, queues: readonly store.DueQueue[], rows_max: number): store.QueueCapacity[] {
  const each_max = Math.max(10, Math.ceil(rows_max / Math.max(1, queues.length)))
  return queues.flatMap((queue) => {
    if (charactersLeft(state, queue) <= 0) return []
    return priorities.flatMap((priority) => {
      const jobs_max = Math.min(each_max, capacityOf(state, queue, priority))
      return jobs_max <= 0 ? [] : [{ queue: queue.queue, rank: ranks[priority], jobs_max }]
    })
  })
}

/** Without jobs in progress or being cancelled. */
const jobsOf = ({ jobs }: State, rows: readonly store.ClaimedRow[], lease_until_ms: number): Job[] =>
  rows.flatMap(({ job_attempts, job_unknowns, job_outcome_unknown, job_accepted_ids, job_next_run_at, ...row }) =>
    jobs.has(row.id) || (row.status === 'queued' && jobs.unpersisted.refuses(row.id))
      ? []
      : [
          {
            row,
            attempts: job_attempts,
            claimed: true,
            unknowns: job_unknowns,
            outcome_unknown: job_outcome_unknown,
            accepted_ids: job_accepted_ids ?? [],
            due_ms: Date.parse(job_next_run_at),
            lease_until_ms,
          },
        ],
  )

function ready(state: State): Job[] {
  const { jobs, rates, sessions, circuitBreakers, wakes, leases, platform } = state
  const now = platform.clock.now()
  const granted = new Map<string, number>()
  // grants of this run use places too, or channels that wake up together would fill them all
  let inFlight = jobs.running
  let wanting = jobs.waiting.size > 0 && inFlight >= inFlightMax
  const started = jobs.waiting.take(Math.min(memoryPerTickMax, inFlightMax - inFlight), (queue, job, wanted) => {
    // after the process slept, others may have these jobs: the next poll releases them
    if (!mayRun(state, job)) return 0
    const { channel_id } = job.row
    const before = granted.get(queue) ?? 0
    const mine = before + jobs.runningOf(queue)
    // half of what others leave; an idle channel always gets one place
    const places = Math.min(placesOf(rates, channel_id), sessions.find(channel_id)?.max_concurrent_sends ?? Infinity)
    const free =
      Math.min(places, Math.max(1, Math.floor((inFlightMax - inFlightReserved - inFlight + mine) / 2))) - mine
    const requested = Math.max(0, Math.min(free, wanted))
    if (requested < wanted) wanting = true
    const may = circuitBreakers.allows(channel_id, now, requested)
    const more = may === 0 ? 0 : rates.take(channel_id, now, may)
    if (more < may) wakes.at(rates.freeAt(channel_id, now))
    leases.use(channel_id)
    if (more > 0) circuitBreakers.attemptBegins(channel_id, now)
    if (may < requested) wakes.at(circuitBreakers.probeAt(channel_id) ?? now)
    granted.set(queue, before + more)
    inFlight += more
    return more
  })
  jobs.setPlacesWanted(wanting)
  return started
}

const placesOf = (rates: ChannelRates, channel_id: string): number =>
  Math.min(inFlightPerQueueMax, Math.max(inFlightPerQueueMin, Math.ceil(rates.within(channel_id, inFlightSeconds))))
