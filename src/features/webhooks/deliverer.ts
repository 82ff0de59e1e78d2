/**
 * The delivery lane. A process takes turns at endpoints, reads what is due for them, posts, and settles in sets; one endpoint's
 * attempts are all made by one process. Nothing waits for a receiver but that receiver's own deliveries.
 */
import { limits } from '../../contract/limits.ts'
import { isoTime } from '../../lib/clock.ts'
import type { HttpPoster, PostOutcome } from '../../lib/http-post.ts'
import type { Lane } from '../../lib/loop.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Platform } from '../../platform/platform.ts'
import { deliveryHeaders, settlementOf, targetOf } from './attempt.ts'
import { eventBodies, type EventBodies } from './bodies.ts'
import { dropPending, endWithoutEvent } from './delivery-store.ts'
import { aheadOf, circuitAt, jobOf, learn, lookAgain, mayBegin, newHand, notice, outdate, type Hand, type Job } from './hand.ts'
import * as store from './lane-store.ts'
import { settling } from './settling.ts'
import { spanBook, type Taker } from './spans.ts'
import { taking } from './taking.ts'

export interface DelivererDeps {
  readonly platform: Platform
  readonly poster: HttpPoster
  /** Disables an endpoint that failed too often in a row. */
  readonly disable: (tenant: { account_id: string; mode: string }, endpoint_id: string) => Promise<void>
  /** Tells of endpoints that this process has changed: whoever changed one relies on it from the answer on. */
  readonly onChange: (listener: (endpoint_id: string) => void) => void
  /** 0 ≤ x < 1, for jitter. */
  readonly random: () => number
}

export interface Deliverer {
  readonly lane: Lane
  /** For the fan-out of this process. */
  readonly taker: Taker
  /** Finishes what is under way within `grace_ms`, gives back the rest uncounted, and lets go of its turns. */
  stop(grace_ms?: number): Promise<void>
}

/** Attempts under way in this process; slow endpoints together may take half of them. */
const underWayMax = 2_048
const slowMax = underWayMax / 2
/** Deliveries at hand and not settled, over all endpoints. */
const heldMax = 16_000
/** What was handed on in memory and is not settled after this time goes to the queue, where it is seen. */
const handedForMs = 1_000
const turnsPerPass = 1_000
const retriesPerPass = 2_000
const droppedPerPass = 2_000
const leaseMs = 60_000
const renewEveryMs = 20_000
const idleTurnMs = 10_000
/** How long a pass waits for what it began; the rest goes on beside the next pass. */
const patienceMs = 25

export function deliverer(deps: DelivererDeps): Deliverer {
  const { platform, poster } = deps
  const { clock, pool, process_id, log, metrics, settings } = platform
  const hands = new Map<string, Hand>()
  const bodies = eventBodies(pool, platform.fresh_events)
  const end = new AbortController()
  const spans = spanBook()
  const outcomes = settling({ platform, spans, release, failing, quiet: tellIdle })
  const parts = { platform, hands, spans, bodies, outcomes }
  const taker = taking(parts, {
    room: () => (stopping ? 0 : heldMax - held),
    keep(hand, jobs) {
      for (const job of jobs) hand.held.add(job.id)
      held += jobs.length
      hand.buffer.push(...jobs)
      hand.used_at = clock.now()
    },
    async begin() {
      beginAll()
      if (stopping) await idle()
    },
  })
  let reading: Promise<void> | undefined
  let releasedMeanwhile: Set<string> | undefined // while rows are read, which may still show them
  let held = 0
  let underWay = 0
  let slowUnderWay = 0
  let starved = false
  let stopping = false
  let begun = 0
  let renewedAt = 0
  let scannedTo = ''
  let idlers: (() => void)[] = []
  let patient: (() => void) | undefined

  deps.onChange((endpoint_id) => {
    const hand = hands.get(endpoint_id)
    if (hand !== undefined) reread(outdate(hand))
  })

  const lane: Lane = {
    name: 'deliver',
    idle_ms: 250,
    async tick() {
      if (stopping) return 0
      begun = 0
      if (outcomes.busy()) outcomes.soon()
      await keepTurns()
      const ready = await takeTurns()
      await refresh(ready)
      const dropped = await dropForInactive(ready)
      const late = spans.takenBefore(clock.now() - handedForMs)
      outcomes.toQueue(late)
      await readMore()
      beginAll()
      const worked = begun + dropped + late.length
      if (underWay > 0 || outcomes.busy()) await aWhile()
      return worked
    },
  }

  /** Waits for what was begun, but not for those that hang. A waiter of its own each time: under load nothing is ever idle. */
  async function aWhile(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const over = new AbortController()
    patient = resolve
    void clock.sleep(patienceMs, over.signal).then(resolve)
    await promise
    patient = undefined
    over.abort()
  }

  /** Resolves once nothing is under way or unsettled. */
  const idle = (): Promise<void> => (underWay === 0 && !outcomes.busy() ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)))
  function tellIdle(): void {
    if (underWay > 0 || outcomes.busy()) return
    patient?.()
    for (const resolve of idlers) resolve()
    idlers = []
  }

  /** Prolongs turns, lets go of those that were idle, and forgets those that were lost. */
  async function keepTurns(): Promise<void> {
    const now = clock.now()
    slowUnderWay = 0
    for (const hand of hands.values()) {
      notice(hand, now)
      if (hand.slow) slowUnderWay += hand.underWay.size
    }
    if (now - renewedAt < renewEveryMs || hands.size === 0) return
    renewedAt = now
    const unused = [...hands.values()].filter((hand) => hand.held.size === 0 && now - hand.used_at > idleTurnMs).map((hand) => hand.endpoint_id)
    for (const id of unused) hands.delete(id)
    if (unused.length > 0) await store.releaseTurns(pool, process_id, unused)
    const kept = new Set(await store.renewTurns(pool, process_id, [...hands.keys()], isoTime(now + leaseMs)))
    for (const hand of hands.values()) if (!kept.has(hand.endpoint_id)) forget(hand)
  }

  async function takeTurns(): Promise<Hand[]> {
    const now = clock.now()
    const due = await store.takeTurns(pool, {
      process_id,
      at: isoTime(now),
      lease_until: isoTime(now + leaseMs),
      alive_since: isoTime(now - limits.process_silent_ms),
      after: scannedTo,
      limit: turnsPerPass,
      retries: retriesPerPass,
    })
    scannedTo = due.length < turnsPerPass ? '' : due.at(-1)!.endpoint_id
    const ready: Hand[] = []
    for (const { endpoint_id, owner } of due) {
      const known = hands.get(endpoint_id)
      if (owner !== process_id && owner !== null) {
        if (known !== undefined) forget(known)
        continue
      }
      const hand = known ?? newHand(endpoint_id, now)
      hands.set(endpoint_id, hand)
      lookAgain(hand, owner === process_id, now)
      ready.push(hand)
    }
    return ready
  }

  /** Reads what has changed of the endpoints: an attempt goes to the address and under the secret of its moment. */
  async function refresh(ready: readonly Hand[]): Promise<void> {
    const concerned = new Set([...ready, ...[...hands.values()].filter((hand) => hand.buffer.length > 0)])
    if (concerned.size === 0) return
    const rows = await store.readEndpoints(
      pool,
      [...concerned].map((hand) => ({ id: hand.endpoint_id, version: hand.version })),
    )
    for (const row of rows) {
      const hand = hands.get(row.id)
      if (hand === undefined) continue
      // what was read under the old version may have been dropped since
      reread(hand)
      if (!hand.taken && row.status === 'active') forget(hand)
      const { account_id, mode, version, failures } = row
      Object.assign(hand, { account_id, mode, version, failures, stale: false })
      hand.active = row.status === 'active'
      hand.target = hand.active ? targetOf(platform.secrets, row) : undefined
    }
  }

  /** What is due for endpoints that are disabled or gone ends as failed: a race with the fan-out may have left it. */
  async function dropForInactive(ready: readonly Hand[]): Promise<number> {
    let dropped = 0
    for (const hand of ready) {
      if (hand.active || hand.held.size > 0) continue
      dropped += await dropPending(pool, hand.endpoint_id, droppedPerPass)
      forget(hand)
    }
    return dropped
  }

  /** Lets go of what waits, to be found in the queue; what was handed on in memory is brought there. */
  function reread(hand: Hand): void {
    const waited = hand.buffer.splice(0)
    for (const job of waited) release(hand, job)
    outcomes.toQueue(waited.flatMap((job) => job.run?.span ?? []))
    hand.after = ''
    hand.more = true
  }

  function forget(hand: Hand): void {
    reread(hand)
    hands.delete(hand.endpoint_id)
  }

  function release(hand: Hand, job: Job): void {
    if (!hand.held.delete(job.id)) return
    held -= 1
    releasedMeanwhile?.add(job.id)
  }

  /** Reads on for endpoints that run low, and begins what was read, until none runs low. One reading at a time. */
  function readMore(): Promise<void> {
    reading ??= readUntilEnough().finally(() => (reading = undefined))
    return reading
  }

  async function readUntilEnough(): Promise<void> {
    for (let wants = runningLow(); wants.length > 0; wants = runningLow()) {
      await take(wants)
      beginAll()
    }
  }

  function runningLow(): store.Want[] {
    const wants = []
    for (const hand of stopping || held >= heldMax ? [] : hands.values()) {
      const ahead = aheadOf(hand)
      if (!hand.active || !hand.more || hand.buffer.length > ahead / 2) continue
      wants.push({ endpoint_id: hand.endpoint_id, after: hand.after, limit: ahead - hand.buffer.length + (hand.after === '' ? hand.held.size : 0) })
    }
    return wants
  }

  async function take(wants: readonly store.Want[]): Promise<void> {
    const released = (releasedMeanwhile = new Set())
    const { rows, gone } = await due(pool, bodies, wants).finally(() => (releasedMeanwhile = undefined))
    const byHand = Map.groupBy(rows, (row) => row.endpoint_id)
    for (const want of wants) {
      const hand = hands.get(want.endpoint_id)
      if (hand === undefined) continue
      const found = byHand.get(want.endpoint_id) ?? []
      hand.more = found.length === want.limit
      hand.after = hand.more ? found.at(-1)!.id : ''
      for (const row of found) {
        if (hand.held.has(row.id) || released.has(row.id) || gone.includes(row)) continue // released: settled, or to be read anew
        hand.held.add(row.id)
        held += 1
        hand.buffer.push(jobOf(row))
      }
    }
  }

  /** Begins what may begin, one for each account in turn: when places are scarce, no account takes them all. */
  function beginAll(): void {
    starved = false
    const accounts = [
      ...Map.groupBy(
        [...hands.values()].filter((hand) => hand.buffer.length > 0),
        (hand) => hand.account_id,
      ).values(),
    ]
    for (let progress = true; progress;) {
      progress = false
      for (const own of accounts) {
        for (let i = 0; i < own.length; i++) {
          const hand = own.shift()!
          own.push(hand)
          if (!beginOne(hand)) continue
          progress = true
          break
        }
      }
    }
  }

  function beginOne(hand: Hand): boolean {
    const now = clock.now()
    if (stopping || !mayBegin(hand, now)) return false
    if (underWay >= underWayMax || (hand.slow && slowUnderWay >= slowMax)) {
      starved = true
      return false
    }
    const job = hand.buffer.shift()!
    const body = bodies.get(job.event_id)
    if (body === undefined) {
      // fallen out of memory: it is read again with its row
      hand.buffer.unshift(job)
      reread(hand)
      return false
    }
    job.started_at = now
    job.circuit = hand.failures >= circuitAt
    hand.started_at = now
    hand.underWay.add(job)
    underWay += 1
    if (hand.slow) slowUnderWay += 1
    if (job.run === undefined) begun += 1
    metrics.delivery_lag_seconds.observe(Math.max(0, now - job.due_ms) / 1000)
    void post(hand, job, body)
    return true
  }

  async function post(hand: Hand, job: Job, body: Buffer): Promise<void> {
    const wasSlow = hand.slow
    const target = hand.target!
    const headers = deliveryHeaders(target, { id: job.event_id, type: job.event_type }, body, job.started_at)
    const outcome = await poster.post({ url: target.url, headers, body, timeout_ms: settings.webhook_timeout_ms, signal: end.signal })
    underWay -= 1
    if (wasSlow) slowUnderWay = Math.max(0, slowUnderWay - 1)
    finish(hand, job, outcome)
    if (starved) beginAll()
    else while (beginOne(hand)) continue
    if (hand.more && hand.buffer.length <= aheadOf(hand) / 4 && reading === undefined && !stopping) {
      void readMore().catch((error: unknown) => log.warn({ err: error }, 'reading due deliveries failed'))
    }
  }

  function finish(hand: Hand, job: Job, outcome: PostOutcome): void {
    if (outcome.error?.code === 'aborted') {
      hand.underWay.delete(job)
      release(hand, job)
      return outcomes.soon()
    }
    learn(hand, job, outcome, clock.now())
    metrics.attempts.inc({ kind: 'webhook', outcome: outcome.error?.code ?? 'delivered' })
    outcomes.add({ hand, job, failed: outcome.error !== null, settlement: settlementOf(job, outcome, { clock, settings, random: deps.random }) })
    // when the process stops, no pass comes by any more that would write it down
    if (underWay === 0 || stopping) outcomes.soon()
  }

  async function failing(endpoint_id: string, failures: number): Promise<void> {
    const hand = hands.get(endpoint_id)
    if (hand === undefined) return
    if (!outcomes.pending(hand)) hand.failures = failures
    if (failures < settings.webhook_disable_after || !hand.active) return
    hand.active = false
    try {
      await deps.disable(hand, endpoint_id)
      reread(hand)
    } catch (error) {
      hand.active = true // its next failure tries again
      log.warn({ err: error, endpoint_id }, 'disabling a failing webhook endpoint failed')
    }
  }

  return {
    lane,
    taker,
    async stop(grace_ms = 3_000) {
      stopping = true
      outcomes.giveUp()
      outcomes.soon()
      await reading?.catch(() => undefined)
      const enough = new AbortController()
      await Promise.race([idle(), clock.sleep(grace_ms, enough.signal)])
      enough.abort()
      end.abort()
      outcomes.toQueue(spans.ids())
      await idle()
      await store.releaseTurns(pool, process_id, [...hands.keys()]).catch(() => undefined) // a dead database: the lease runs out by itself
      hands.clear()
    },
  }
}

/** What is due, with the bodies in memory; `gone` is ended, for its events are no longer kept. */
async function due(pool: Db, bodies: EventBodies, wants: readonly store.Want[]): Promise<{ rows: store.DueRow[]; gone: store.DueRow[] }> {
  const rows = await store.readDue(pool, wants)
  const gone = await bodies.load(rows)
  if (gone.length > 0) await endWithoutEvent(pool, gone)
  return { rows, gone }
}
