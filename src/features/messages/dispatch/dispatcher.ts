/** The dispatch lane: claims due messages, hands them to their providers with no transaction open, and settles what came of it. */
import type { Tenant } from '../../../contract/caller.ts'
import { limits } from '../../../contract/limits.ts'
import { priorities, ranks, type Priority } from '../../../contract/resources/message.ts'
import { isoTime, withDeadline } from '../../../lib/clock.ts'
import type { Lane } from '../../../lib/loop.ts'
import type { Outcome } from '../../channels/adapter.ts'
import { isUp, type ChannelRow, type ChannelService } from '../../channels/service.ts'
import { backlog as newBacklog } from './backlog.ts'
import { consentLooks, type ConsentLooks } from './eligibility.ts'
import { channelLeases, channelRates, turnWakes } from './leases.ts'
import * as store from './store.ts'
import { heldQueues, loseChannels } from './held-queues.ts'
import type { Handoff } from '../ingest/submission.ts'
import { applyTransitions } from '../transitions/transitions.ts'
import { reportWakes } from '../receipts/wakes.ts'
import { settle, validUntil, type Job, type SettleDeps, type Settlement } from './completer.ts'
import { unmarkedHandOvers, type Withdrawing } from './unpersisted-sends.ts'

export interface DispatcherDeps extends SettleDeps {
  readonly channels: ChannelService
  /** False in a process whose lanes do not run: it hands nothing on in memory. */
  readonly inMemory: boolean
  /** While it is true no other process takes requests or works. */
  readonly alone: () => boolean
}

export interface Dispatcher extends Handoff, Withdrawing, Pick<ConsentLooks, 'doubt'> {
  readonly lane: Lane
  /** Writes `sending` for every message that is being handed over and does not say so. */
  markAll(): Promise<void>
  /** Takes over what dead processes had in hand; at the start, before anyone can ask to cancel it. */
  takeOver(): Promise<void>
  /** Finishes what was handed over, gives back the rest, uncounted. */
  stop(): Promise<void>
}

const leaseMs = 60_000
/** A hand-over is not begun so shortly before its claim ends. */
const leaseMarginMs = 35_000
const sendTimeoutMs = 30_000
const inFlightMax = 1000
const inFlightPerQueueMax = 400
const memoryMax = 20_000
const memoryPerTickMax = 500
const queuesMax = 500
const busyLookEveryMs = 200
/** A channel's messages are kept in memory for so many seconds at its rate; the others wait in the table. */
const keptSeconds = 3
const patienceMs = 50
/** A provider that takes longer to answer has its messages marked as `sending` meanwhile. */
const markAfterMs = 300

const queueOf = (row: { account_id: string; channel_id: string }) => `${row.account_id}:${row.channel_id}`

export function dispatcher(deps: DispatcherDeps): Dispatcher {
  const { platform, channels } = deps
  const { pool, clock, log, metrics, process_id } = platform
  const waiting = newBacklog()
  const inHand = new Set<string>()
  const unmarked = unmarkedHandOvers()
  const handOvers = new Set<Promise<void>>()
  const perQueue = new Map<string, number>()
  const queues = heldQueues(platform, channels)
  const consents = consentLooks(platform, channels)
  const leases = channelLeases(platform)
  const rates = channelRates()
  const turns = turnWakes(platform)
  const settlements: Settlement[] = []
  let settling: Promise<void> | undefined
  const wakes = reportWakes(platform)
  let stopping = false
  let tookOver_ms = 0
  let looked_ms = 0
  let queueCursor = ''

  function takes(item: { account_id: string; channel_id: string; sandbox: boolean; priority: Priority }): boolean {
    if (stopping || !deps.inMemory || waiting.size >= memoryMax) return false
    return item.sandbox || (leases.holds(item.channel_id) && roomOf(item, item.priority) > 0)
  }

  /** How many more of a channel and priority this process keeps in memory: what the channel takes within seconds, so that a slow one leaves room for the others. */
  const roomOf = (row: { account_id: string; channel_id: string }, priority: Priority): number =>
    Math.ceil(rates.within(row.channel_id, keptSeconds)) - waiting.count(queueOf(row), priority)

  const lane: Lane = {
    name: 'dispatch',
    idle_ms: 500,
    async tick() {
      await takeOverDead()
      await mark(clock.now() - markAfterMs)
      const claimed = stopping ? 0 : await claim()
      const jobs = stopping ? [] : takeReady()
      if (jobs.length === 0) {
        if (inHand.size > 0) await Promise.race([settled(), clock.sleep(patienceMs)])
        return claimed
      }
      const work = handOver(jobs).finally(() => handOvers.delete(work))
      handOvers.add(work)
      // a provider that hangs must not keep the others waiting: what is quick is awaited, the rest goes on beside the next pass
      await Promise.race([work, clock.sleep(patienceMs)])
      return jobs.length
    },
  }

  async function takeOverDead(): Promise<void> {
    const now = clock.now()
    if (now - tookOver_ms < 1000) return
    tookOver_ms = now
    expire(waiting.drop((job) => job.row.expires_at !== null && validUntil(job) <= now))
    const lost = waiting.drop((job) => job.lease_until_ms - leaseMarginMs <= now)
    for (const job of lost) inHand.delete(job.row.id)
    if (lost.length > 0) await giveBack(lost, now)
    await leases.renew()
    const taken = await store.takeOverJobs(pool, deps.followers, process_id, isoTime(now), isoTime(now - limits.process_silent_ms))
    if (taken > 0) log.warn({ jobs: taken }, 'took over messages that another process had claimed')
  }

  /** Claims due jobs of the queues whose channels this process may dispatch; resolves to how many. */
  async function claim(): Promise<number> {
    const room = Math.min(memoryMax - waiting.size, memoryPerTickMax)
    const now = clock.now()
    // with much to do in memory the table is looked at now and then, for the sake of other queues
    if (room <= 0 || (waiting.size >= memoryPerTickMax && now - looked_ms < busyLookEveryMs)) return 0
    looked_ms = now
    const due = await store.listDueQueues(pool, isoTime(now), queueCursor, queuesMax)
    queueCursor = due.length === queuesMax ? due[due.length - 1]!.queue : ''
    if (due.length === 0) return 0
    const { open, held } = await queues.part(due)
    const wanted = open.filter(({ mode, channel_id }) => mode === 'live' && !leases.holds(channel_id)).map(({ channel_id }) => channel_id)
    await leases.take([...new Set(wanted)])
    const mine = open.filter(({ mode, channel_id }) => mode === 'test' || leases.holds(channel_id))
    const full = mine.filter((queue) => priorities.some((priority) => roomOf(queue, priority) <= 0))
    const lease_until_ms = now + leaseMs
    const expired = await queues.expired([...held, ...full], isoTime(lease_until_ms), room)
    expire(takenIn(expired, lease_until_ms))
    const each_max = Math.max(10, Math.ceil(room / Math.max(1, mine.length)))
    const rows = await store.claimJobs(pool, {
      rooms: mine.flatMap((queue) =>
        priorities.flatMap((priority) => {
          const jobs_max = Math.min(each_max, roomOf(queue, priority))
          return jobs_max <= 0 ? [] : [{ queue: queue.queue, rank: ranks[priority], jobs_max }]
        }),
      ),
      at: isoTime(now),
      lease_until: isoTime(lease_until_ms),
      process_id,
      rows_max: room,
    })
    for (const job of takenIn(rows, lease_until_ms)) waiting.add(queueOf(job.row), job)
    return rows.length + expired.length
  }

  /** The jobs of claimed rows, in hand from here on; those that are so already, or are being cancelled, left out. */
  function takenIn(rows: readonly store.ClaimedRow[], lease_until_ms: number): Job[] {
    return rows.flatMap(({ job_attempts, job_due_at, ...row }) => {
      if (inHand.has(row.id) || (row.status === 'queued' && unmarked.refuses(row.id))) return []
      inHand.add(row.id)
      return [{ row, attempts: job_attempts, claimed: true, due_ms: Date.parse(job_due_at), lease_until_ms }]
    })
  }

  function takeReady(): Job[] {
    const now = clock.now()
    const taken = new Map<string, number>()
    return waiting.take(Math.min(memoryPerTickMax, inFlightMax - running()), (queue, job, wanted) => {
      const before = taken.get(queue) ?? 0
      const mine = before + (perQueue.get(queue) ?? 0)
      // half of what the others leave, so that however many providers hang there is room for the next
      const free = Math.min(inFlightPerQueueMax, Math.max(1, Math.floor((inFlightMax - running() + mine) / 2))) - mine
      const asked = Math.max(0, Math.min(free, wanted))
      const granted = asked === 0 ? 0 : rates.take(job.row.channel_id, now, asked)
      if (granted < asked) turns.at(rates.freeAt(job.row.channel_id, now))
      taken.set(queue, before + granted)
      return granted
    })
  }

  const running = () => inHand.size - waiting.size

  /** Ends jobs that have outlived their validity, at once and not at their channel's rate. */
  function expire(jobs: readonly Job[]): void {
    for (const job of jobs) {
      began(job)
      finish({ job, outcome: { kind: 'expired' }, at_ms: clock.now() })
    }
  }

  const began = ({ row }: Job) => void perQueue.set(queueOf(row), (perQueue.get(queueOf(row)) ?? 0) + 1)

  async function handOver(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) began(job)
    try {
      const ready = await prepare(jobs)
      await withDeadline(clock, sendTimeoutMs, (signal) => Promise.all(ready.map(({ job, channel }) => perform(job, channel, signal))))
    } catch (error) {
      log.error({ err: error }, 'messages could not be handed over; they are claimed again')
      await giveBack(jobs, clock.now() + 1000).catch(() => undefined)
      for (const job of jobs) release(job)
    }
    await settled()
  }

  /** Frees claimed jobs in the table, uncounted. */
  const giveBack = async (jobs: readonly Job[], due_ms: number): Promise<void> =>
    await store.releaseJobs(
      pool,
      process_id,
      jobs.map(({ row }) => row.id),
      isoTime(due_ms),
    )

  /** Sorts out what must not be handed over, and marks the rest as `sending`. */
  async function prepare(jobs: readonly Job[]): Promise<{ job: Job; channel: ChannelRow }[]> {
    const now = clock.now()
    const blocked = await consents.blockedAmong(jobs)
    const ready: { job: Job; channel: ChannelRow }[] = []
    const down: Job[] = []
    for (const job of jobs) {
      const tenant = { account_id: job.row.account_id as Tenant['account_id'], mode: job.row.mode }
      const channel = await channels.find(tenant, job.row.channel_id)
      rates.set(job.row.channel_id, channel === null ? null : channels.rateOf(channel))
      if (job.row.status !== 'queued' && job.row.status !== 'sending') finish({ job, outcome: { kind: 'gone' }, at_ms: now })
      else if (validUntil(job) <= now) finish({ job, outcome: { kind: 'expired' }, at_ms: now })
      else if (blocked.has(job.row.id)) finish({ job, outcome: { kind: 'blocked' }, at_ms: now })
      else if (channel === null) finish({ job, outcome: { kind: 'channel_deleted' }, at_ms: now })
      else if (!isUp(channel)) down.push(job)
      else ready.push({ job, channel })
    }
    // they wait in the table until the channel is up again
    await giveBack(down, now)
    for (const job of down) release(job)
    return await markSending(ready, now)
  }

  /** Writes `sending` where the provider takes its time, unless this process is alone and so can tell by itself; a message that was cancelled meanwhile is dropped. */
  async function markSending(ready: { job: Job; channel: ChannelRow }[], now: number): Promise<{ job: Job; channel: ChannelRow }[]> {
    const slow = ready.filter(({ job, channel }) => job.row.status === 'queued' && channels.adapterOf(channel)?.instant !== true)
    if (slow.length === 0) return ready
    if (deps.alone()) {
      const cancelled = new Set(slow.flatMap(({ job }) => (unmarked.refuses(job.row.id) ? [job] : [])))
      for (const { job } of slow) if (!cancelled.has(job)) unmarked.begin(job, now)
      // should the cancelling come to nothing, the job is claimed again when its lease ends
      for (const job of cancelled) release(job)
      return ready.filter(({ job }) => !cancelled.has(job))
    }
    const moved = await claimed(slow.map(({ job }) => ({ job, at_ms: now })))
    const slowIds = new Set(slow.map(({ job }) => job.row.id))
    return ready.filter(({ job }) => {
      if (!slowIds.has(job.row.id) || moved.has(job.row.id)) return true
      finish({ job, outcome: { kind: 'gone' }, at_ms: clock.now() })
      return false
    })
  }

  /** Moves to `sending`; resolves to the ids of those that could be. */
  async function claimed(handed: readonly { job: Job; at_ms: number }[]): Promise<Set<string>> {
    const moved = await applyTransitions(
      deps,
      pool,
      handed.map(({ job: { row }, at_ms }) => ({
        account_id: row.account_id as Tenant['account_id'],
        mode: row.mode,
        message_id: row.id,
        transition: 'claim' as const,
        at: isoTime(at_ms),
        row,
      })),
    )
    for (const { job } of handed) job.row = moved.get(job.row.id) ?? job.row
    return new Set(moved.keys())
  }

  /** Writes `sending` for what was handed over until then and does not say so. */
  async function mark(until_ms: number): Promise<void> {
    const late = unmarked.since(until_ms)
    if (late.length === 0) return
    await claimed(late)
    for (const { job } of late) unmarked.end(job.row.id)
  }

  async function perform(job: Job, channel: ChannelRow, signal: AbortSignal): Promise<void> {
    const adapter = channels.adapterOf(channel)
    const began = clock.now()
    metrics.dispatch_lag_seconds.observe({ channel_type: channel.type }, Math.max(0, began - job.due_ms) / 1000)
    let outcome: Outcome
    try {
      const { row } = job
      const message = {
        id: row.id,
        channel_id: row.channel_id,
        to: row.to,
        from: row.from,
        type: row.type,
        content: row.content,
        reply_to: await replyReference(row),
        attempt: job.attempts + 1,
      }
      outcome =
        adapter === undefined
          ? { kind: 'unavailable', provider_code: null, message: `The provider ${channel.provider} is not part of this service.` }
          : await adapter.send(message, channels.connection(channel), signal)
    } catch (error) {
      log.error({ err: error, message_id: job.row.id, provider: channel.provider }, 'a provider failed without an answer')
      outcome = { kind: 'unknown', message: 'The provider did not answer.' }
    }
    const at_ms = clock.now()
    metrics.attempts.inc({ kind: 'message', outcome: outcome.kind })
    finish({ job, provider: channel.provider, outcome, duration_ms: at_ms - began, at_ms, instant: adapter?.instant === true })
  }

  /** The provider's id of the message that this one answers. */
  const replyReference = async (row: Job['row']): Promise<string | null> =>
    row.reply_to === null
      ? null
      : await store.findProviderId(pool, { account_id: row.account_id as Tenant['account_id'], mode: row.mode }, row.channel_id, row.reply_to)

  function finish(settlement: Settlement): void {
    settlements.push(settlement)
    settling ??= settleAll().finally(() => (settling = undefined))
  }

  const settled = async () => {
    while (settling !== undefined) await settling
  }

  /** Answers that arrive while a batch is being settled form the next one; a database that is away is waited for. */
  async function settleAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    for (let failures = 0; settlements.length > 0;) {
      const batch = settlements.splice(0, limits.group_commit_rows_max)
      try {
        await settle(deps, batch)
        failures = 0
        await loseChannels(platform, channels, batch)
        for (const { job } of batch) release(job)
        platform.notify('reports', 'fan-out')
        deps.followers.wake(batch.map(({ job }) => job.row))
        wakes.plan(batch)
      } catch (error) {
        log.error({ err: error, messages: batch.length }, 'answers of providers could not be written; they are written again')
        settlements.unshift(...batch)
        if (stopping && failures > 10) return
        failures += 1
        await clock.sleep(Math.min(100 * 2 ** failures, 2000))
      }
    }
  }

  function release(job: Job): void {
    inHand.delete(job.row.id)
    unmarked.end(job.row.id)
    const queue = queueOf(job.row)
    const left = (perQueue.get(queue) ?? 1) - 1
    if (left <= 0) perQueue.delete(queue)
    else perQueue.set(queue, left)
  }

  return {
    lane,
    process_id,
    lease_ms: leaseMs,
    takes,
    offer(rows, lease_until_ms) {
      for (const row of rows) {
        if (unmarked.refuses(row.id)) continue
        inHand.add(row.id)
        waiting.add(queueOf(row), { row, attempts: 0, claimed: false, due_ms: Date.parse(row.created_at), lease_until_ms })
      }
      platform.notify('dispatch')
    },
    withdraw(message_ids) {
      const wanted = new Set(message_ids)
      unmarked.refuse(message_ids, clock.now())
      if (message_ids.some((id) => waiting.has(id)))
        for (const job of waiting.drop(({ row }) => row.status === 'queued' && wanted.has(row.id))) inHand.delete(job.row.id)
      return new Set(message_ids.filter((id) => unmarked.has(id)))
    },
    doubt: consents.doubt,
    markAll: () => mark(clock.now()),
    takeOver: takeOverDead,
    async stop() {
      stopping = true
      wakes.stop()
      turns.stop()
      const given = waiting.drop(({ row }) => inHand.delete(row.id))
      await giveBack(given, clock.now())
      await Promise.all(handOvers)
      await settled()
      await leases.release()
    },
  }
}
