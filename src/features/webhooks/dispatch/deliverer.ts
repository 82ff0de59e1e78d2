/**
 * The delivery lane. A process takes turns at endpoints, reads what is due for them, posts, and settles in sets; one endpoint's
 * attempts are all made by one process. Nothing waits for a receiver but that receiver's own deliveries.
 */
import type { HttpPoster, PostOutcome } from '../../../lib/http-post.ts'
import type { Lane } from '../../../lib/loop.ts'
import type { Platform } from '../../../platform/platform.ts'
import { deliveryHeaders, attemptResultOf, targetOf } from './attempt.ts'
import { eventBodies } from './event-bodies.ts'
import { dropPending } from '../deliveries/store.ts'
import { aheadOf, jobOf, learn, lookAgain, mayBegin, newSession, notice, outdate, type EndpointSession, type DeliveryJob } from './endpoint-session.ts'
import { readDueWithBodies } from './due.ts'
import { endpointLeases, endpointsPerPass } from './leases.ts'
import * as store from './queue-store.ts'
import { circuitAt } from './circuit.ts'
import { completer } from './completer.ts'
import type { HandoffConsumer } from '../fan-out/handoff.ts'
import { openHandoffs } from './open-handoffs.ts'
import { handoffConsumer } from './handoff-consumer.ts'

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
  readonly consumer: HandoffConsumer
  /** Finishes what is under way within `grace_ms`, gives back the rest uncounted, and lets go of its turns. */
  stop(grace_ms?: number): Promise<void>
}

/** Attempts under way in this process, and those of slow endpoints. */
const [underWayMax, slowMax] = [2_048, 1_024]
/** Deliveries at hand and not settled, over all endpoints. */
const heldMax = 16_000
/** What was handed on in memory and is not settled after this time goes to the queue, where it is seen. */
const inMemoryForMs = 1_000
const droppedPerPass = 2_000
const renewEveryMs = 20_000
const idleLeaseMs = 10_000
/** How long a pass waits for what it began; the rest goes on beside the next pass. */
const patienceMs = 25

export function deliverer(deps: DelivererDeps): Deliverer {
  const { platform, poster } = deps
  const { clock, pool, process_id, log, metrics, settings } = platform
  const sessions = new Map<string, EndpointSession>()
  const bodies = eventBodies(pool, platform.fresh_events)
  const end = new AbortController()
  const handoffs = openHandoffs()
  const leases = endpointLeases(platform)
  const outcomes = completer({ platform, handoffs, release, failing, quiet: tellIdle })
  const parts = { platform, sessions, handoffs, bodies, outcomes }
  const consumer = handoffConsumer(parts, {
    capacity: () => (stopping ? 0 : heldMax - held),
    keep(session, jobs) {
      for (const job of jobs) session.held.add(job.id)
      held += jobs.length
      session.buffer.push(...jobs)
      session.used_at = clock.now()
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
    const session = sessions.get(endpoint_id)
    if (session !== undefined) reread(outdate(session))
  })

  const lane: Lane = {
    name: 'deliver',
    idle_ms: 250,
    async tick() {
      if (stopping) return 0
      begun = 0
      if (outcomes.busy()) outcomes.soon()
      await keepLeases()
      const ready = await takeLeases()
      await refresh(ready)
      const dropped = await dropForInactive(ready)
      const late = handoffs.takenBefore(clock.now() - inMemoryForMs)
      outcomes.toQueue(late)
      await readMore()
      beginAll()
      const worked = begun + dropped + late.length
      if (underWay > 0 || outcomes.busy()) await aWhile()
      return worked
    },
  }

  /** Waits for what was begun, but not for those that hang. */
  async function aWhile(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const over = new AbortController()
    patient = resolve
    void clock.sleep(patienceMs, over.signal).then(resolve)
    await promise
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
  async function keepLeases(): Promise<void> {
    const now = clock.now()
    slowUnderWay = 0
    for (const session of sessions.values()) {
      notice(session, now)
      if (session.slow) slowUnderWay += session.underWay.size
    }
    if (now - renewedAt < renewEveryMs || sessions.size === 0) return
    renewedAt = now
    const unused = [...sessions.values()]
      .filter((session) => session.held.size === 0 && now - session.used_at > idleLeaseMs)
      .map((session) => session.endpoint_id)
    for (const id of unused) sessions.delete(id)
    if (unused.length > 0) await leases.release(unused)
    const kept = new Set(await leases.renew([...sessions.keys()]))
    for (const session of sessions.values()) if (!kept.has(session.endpoint_id)) forget(session)
  }

  async function takeLeases(): Promise<EndpointSession[]> {
    const now = clock.now()
    const due = await leases.dueEndpoints(scannedTo)
    scannedTo = due.length < endpointsPerPass ? '' : due.at(-1)!.endpoint_id
    const ready: EndpointSession[] = []
    for (const { endpoint_id, process_id: holder } of due) {
      const known = sessions.get(endpoint_id)
      if (holder !== process_id && holder !== null) {
        if (known !== undefined) forget(known)
        continue
      }
      const session = known ?? newSession(endpoint_id, now)
      sessions.set(endpoint_id, session)
      lookAgain(session, holder === process_id, now)
      ready.push(session)
    }
    return ready
  }

  /** Reads what has changed of the endpoints: an attempt goes to the address and under the secret of its moment. */
  async function refresh(ready: readonly EndpointSession[]): Promise<void> {
    const concerned = new Set([...ready, ...[...sessions.values()].filter((session) => session.buffer.length > 0)])
    if (concerned.size === 0) return
    const rows = await store.readEndpoints(
      pool,
      [...concerned].map((session) => ({ id: session.endpoint_id, version: session.version })),
    )
    for (const row of rows) {
      const session = sessions.get(row.id)
      if (session === undefined) continue
      // what was read under the old version may have been dropped since
      reread(session)
      if (!session.taken && row.status === 'active') forget(session)
      const { account_id, mode, version, failures } = row
      Object.assign(session, { account_id, mode, version, failures, stale: false })
      session.active = row.status === 'active'
      session.target = session.active ? targetOf(platform.secrets, row) : undefined
    }
  }

  /** What is due for endpoints that are disabled or gone ends as failed: a race with the fan-out may have left it. */
  async function dropForInactive(ready: readonly EndpointSession[]): Promise<number> {
    let dropped = 0
    for (const session of ready) {
      if (session.active || session.held.size > 0) continue
      dropped += await dropPending(pool, session.endpoint_id, droppedPerPass)
      forget(session)
    }
    return dropped
  }

  /** Lets go of what waits, to be found in the queue; what was handed on in memory is brought there. */
  function reread(session: EndpointSession): void {
    const waited = session.buffer.splice(0)
    for (const job of waited) release(session, job)
    outcomes.toQueue(waited.flatMap((job) => job.group?.batch ?? []))
    session.after = ''
    session.more = true
  }

  function forget(session: EndpointSession): void {
    reread(session)
    sessions.delete(session.endpoint_id)
  }

  function release(session: EndpointSession, job: DeliveryJob): void {
    if (!session.held.delete(job.id)) return
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

  function runningLow(): store.ReadAhead[] {
    const wants = []
    for (const session of stopping || held >= heldMax ? [] : sessions.values()) {
      const ahead = aheadOf(session)
      if (!session.active || !session.more || session.buffer.length > ahead / 2) continue
      wants.push({
        endpoint_id: session.endpoint_id,
        after: session.after,
        limit: ahead - session.buffer.length + (session.after === '' ? session.held.size : 0),
      })
    }
    return wants
  }

  async function take(wants: readonly store.ReadAhead[]): Promise<void> {
    const released = (releasedMeanwhile = new Set())
    const { rows, gone } = await readDueWithBodies(pool, bodies, wants).finally(() => (releasedMeanwhile = undefined))
    const bySession = Map.groupBy(rows, (row) => row.endpoint_id)
    for (const want of wants) {
      const session = sessions.get(want.endpoint_id)
      if (session === undefined) continue
      const found = bySession.get(want.endpoint_id) ?? []
      session.more = found.length === want.limit
      session.after = session.more ? found.at(-1)!.id : ''
      for (const row of found) {
        if (session.held.has(row.id) || released.has(row.id) || gone.includes(row)) continue // released: settled, or to be read anew
        session.held.add(row.id)
        held += 1
        session.buffer.push(jobOf(row))
      }
    }
  }

  function beginAll(): void {
    starved = false
    beginInTurn([...sessions.values()], beginOne)
  }

  function beginOne(session: EndpointSession): boolean {
    const now = clock.now()
    if (stopping || !mayBegin(session, now)) return false
    if (underWay >= underWayMax || (session.slow && slowUnderWay >= slowMax)) {
      starved = true
      return false
    }
    const job = session.buffer.shift()!
    const body = bodies.get(job.event_id)
    if (body === undefined) {
      // fallen out of memory: it is read again with its row
      session.buffer.unshift(job)
      reread(session)
      return false
    }
    job.started_at = now
    job.circuit = session.failures >= circuitAt
    session.started_at = now
    session.underWay.add(job)
    underWay += 1
    if (session.slow) slowUnderWay += 1
    if (job.group === undefined) begun += 1
    metrics.delivery_lag_seconds.observe(Math.max(0, now - job.due_ms) / 1000)
    void post(session, job, body)
    return true
  }

  async function post(session: EndpointSession, job: DeliveryJob, body: Buffer): Promise<void> {
    const wasSlow = session.slow
    const target = session.target!
    const headers = deliveryHeaders(target, { id: job.event_id, type: job.event_type }, body, job.started_at)
    const outcome = await poster.post({ url: target.url, headers, body, timeout_ms: settings.webhook_timeout_ms, signal: end.signal })
    underWay -= 1
    if (wasSlow) slowUnderWay = Math.max(0, slowUnderWay - 1)
    finish(session, job, outcome)
    if (starved) beginAll()
    else while (beginOne(session)) continue
    if (session.more && session.buffer.length <= aheadOf(session) / 4 && reading === undefined && !stopping) {
      void readMore().catch((error: unknown) => log.warn({ err: error }, 'reading due deliveries failed'))
    }
  }

  function finish(session: EndpointSession, job: DeliveryJob, outcome: PostOutcome): void {
    if (outcome.error?.code === 'aborted') {
      session.underWay.delete(job)
      release(session, job)
      return outcomes.soon()
    }
    learn(session, job, outcome, clock.now())
    metrics.attempts.inc({ kind: 'webhook', outcome: outcome.error?.code ?? 'delivered' })
    outcomes.add({ session, job, failed: outcome.error !== null, result: attemptResultOf(job, outcome, { clock, settings, random: deps.random }) })
    if (underWay === 0 || stopping) outcomes.soon()
  }

  async function failing(endpoint_id: string, failures: number): Promise<void> {
    const session = sessions.get(endpoint_id)
    if (session === undefined) return
    if (!outcomes.pending(session)) session.failures = failures
    if (failures < settings.webhook_disable_after || !session.active) return
    session.active = false
    try {
      await deps.disable(session, endpoint_id)
      reread(session)
    } catch (error) {
      session.active = true // its next failure tries again
      log.warn({ err: error, endpoint_id }, 'disabling a failing webhook endpoint failed')
    }
  }

  return {
    lane,
    consumer,
    async stop(grace_ms = 3_000) {
      stopping = true
      outcomes.giveUp()
      outcomes.soon()
      await reading?.catch(() => undefined)
      const enough = new AbortController()
      await Promise.race([idle(), clock.sleep(grace_ms, enough.signal)])
      enough.abort()
      end.abort()
      outcomes.toQueue(handoffs.ids())
      await idle()
      await leases.release([...sessions.keys()]).catch(() => undefined) // a dead database: the lease runs out by itself
      sessions.clear()
    },
  }
}

/** Begins one for each account in turn until none begins any more: when places are scarce, no account takes them all. */
function beginInTurn(sessions: readonly EndpointSession[], begin: (session: EndpointSession) => boolean): void {
  const waiting = sessions.filter((session) => session.buffer.length > 0)
  const accounts = [...Map.groupBy(waiting, (session) => session.account_id).values()]
  for (let progress = true; progress;) {
    progress = false
    for (const own of accounts) {
      for (let i = 0; i < own.length; i++) {
        const session = own.shift()!
        own.push(session)
        if (!begin(session)) continue
        progress = true
        break
      }
    }
  }
}
