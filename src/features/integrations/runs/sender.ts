/** Sends due runs of one source: each decided, submitted, and put off or ended where no message comes of it (behaviour: integrations 6.8). */
import { isoTime, pause } from '../../../lib/clock.ts'
import type { Priority } from '../../../contract/resources/message.ts'
import type { ItemOutcome } from '../../messages/service.ts'
import type { RunDeps } from './deps.ts'
import { connectionLost, neverSent } from '../../../platform/database/failures.ts'
import { sqlState } from '../../../platform/database/sql.ts'
import { decide, type Decision } from './decision.ts'
import { endRuns, putOffRuns, type DueRun, type Ended, type PutOff } from './due-store.ts'
import type { ReadRun } from './facts.ts'

export type RunTraffic = 'interactive' | 'bulk'

/** Bulk goes in slices, one after the other whatever their sources, with rests between them in which requests find the machine idle. */
const sliceRuns = 64
/** Decided between two turns of the loop. */
const decidedAtOnce = 16
/** A rest is so many times as long as the slice before it took. */
const restFactor = 2
const restMaxMs = 1000
/** A run that could not be sent is tried again after this, then twice, four times as long, … */
const retryAfterMs = 5000
const retryAfterMaxMs = 600_000
/** Tries after the first one, an hour in all: what has happened is news no longer. */
const retriesMax = 12
/** After what says nothing of the run itself: somebody else has it, or nothing can be stored. */
const againMs = 1000

/** Does one piece of work, which rejects for nothing, after the other, with rests between them where this process is `alone`: beside others submitting rests by itself. */
export type Slices = (work: () => Promise<void>) => Promise<void>

export function slices(alone: () => boolean): Slices {
  let last: Promise<void> = Promise.resolve()
  return (work) => {
    const turn = last.then(async () => {
      const began = performance.now()
      await work()
      return performance.now() - began
    })
    last = turn.then((took) => (alone() ? pause(Math.min(restMaxMs, restFactor * took)) : undefined))
    return turn.then(() => undefined)
  }
}

/** Never rejects: what fails is tried again. What has not begun when `stopping` aborts is left to others. */
export async function sendRuns(deps: RunDeps, inTurn: Slices, runs: readonly ReadRun[], traffic: RunTraffic, stopping?: AbortSignal): Promise<void> {
  if (traffic === 'interactive') return await sendSlice(deps, runs, traffic)
  const sent: Promise<void>[] = []
  for (let from = 0; from < runs.length; from += sliceRuns) {
    const slice = runs.slice(from, from + sliceRuns)
    sent.push(inTurn(() => (stopping?.aborted === true ? leave(deps, slice).catch(() => undefined) : sendSlice(deps, slice, traffic))))
  }
  await Promise.all(sent)
}

/** Gives runs back, to be taken up after so many milliseconds. */
async function leave({ platform: { pool, clock } }: RunDeps, runs: readonly ReadRun[], after_ms = 0): Promise<void> {
  const due_at = isoTime(clock.now() + after_ms)
  await putOffRuns(
    pool,
    runs.map(({ run: { id, held_until, failures } }) => ({ id, held_until, failures, due_at })),
  )
}

async function sendSlice(deps: RunDeps, runs: readonly ReadRun[], traffic: RunTraffic): Promise<void> {
  const { platform } = deps
  try {
    const decisions = await decideAll(deps, runs, traffic === 'bulk' ? 'low' : 'normal')
    await settle(
      deps,
      decisions.flatMap((decision) => (decision.kind === 'end' ? [decision.ended] : [])),
      decisions.filter((decision) => decision.kind === 'later'),
    )
    const sending = decisions.filter((decision) => decision.kind === 'send')
    const byAutomation = Map.groupBy(sending, ({ run }) => run.automation_id)
    await Promise.all([...byAutomation].map(([automation_id, some]) => submit(deps, automation_id, some, traffic)))
  } catch (error) {
    platform.storage.failed(error)
    platform.log.error({ err: error, source_id: runs[0]!.run.source_id }, 'runs could not be sent; they are tried again')
    const failed = runs.map(({ run }) => ({ kind: 'later' as const, run, code: 'internal_error' }))
    const again = saysNothingOf(error) ? leave(deps, runs, againMs) : settle(deps, [], failed)
    await again.catch((more: unknown) => platform.log.error({ err: more }, 'that runs could not be sent could not be counted'))
  }
}

/** The database could not be asked: that is no failure of these runs. */
const saysNothingOf = (error: unknown): boolean => connectionLost(error) || neverSent(error) || sqlState(error) !== undefined

async function decideAll(deps: RunDeps, runs: readonly ReadRun[], priority: Priority): Promise<Decision[]> {
  const decisions: Decision[] = []
  for (let from = 0; from < runs.length; from += decidedAtOnce) {
    decisions.push(...(await Promise.all(runs.slice(from, from + decidedAtOnce).map((read) => decideAlone(deps, read, priority)))))
    if (from + decidedAtOnce < runs.length) await new Promise((resolve) => setImmediate(resolve))
  }
  return decisions
}

/** What nobody expected of a run is this run's alone. */
async function decideAlone(deps: RunDeps, read: ReadRun, priority: Priority): Promise<Decision> {
  try {
    return await decide(deps, read, priority)
  } catch (error) {
    if (saysNothingOf(error)) throw error
    deps.platform.log.error({ err: error, run_id: read.run.id }, 'what becomes of a run could not be told; it is tried again')
    return { kind: 'later', run: read.run, code: 'internal_error' }
  }
}

type Sending = Extract<Decision, { kind: 'send' }>
type Later = Extract<Decision, { kind: 'later' }>

async function submit(deps: RunDeps, automation_id: string, sending: readonly Sending[], traffic: RunTraffic): Promise<void> {
  const items = sending.map(({ run, message }) => ({ message, submission_key: run.id }))
  const submitted = (some: typeof items) =>
    deps.messages.submit({ origin: { type: 'automation', id: automation_id }, traffic, items: some, alongside: { kind: 'automation' } })
  // each alone: an interactive submission is decided as a whole
  const outcomes = traffic === 'bulk' ? await submitted(items) : (await Promise.all(items.map((item) => submitted([item])))).flat()
  await settleOutcomes(deps, sending, outcomes)
}

async function settleOutcomes(deps: RunDeps, sending: readonly Sending[], outcomes: readonly ItemOutcome[]): Promise<void> {
  const { platform } = deps
  const now = platform.clock.now()
  const unfunded: Later[] = []
  const again: PutOff[] = []
  for (const [i, { kind }] of outcomes.entries()) {
    const { run } = sending[i]!
    if (kind === 'accepted') {
      platform.metrics.automation_run_lag_seconds.observe(Math.max(0, now - Date.parse(run.scheduled_for)) / 1000)
      platform.metrics.automation_runs.inc({ outcome: 'sent' })
    } else if (kind === 'no_funds') unfunded.push({ kind: 'later', run, code: 'insufficient_balance' })
    else if (kind === 'withdrawn' || kind === 'unavailable') again.push(releasedOf(run, now))
    else if (kind === 'refused') platform.metrics.automation_runs.inc({ outcome: 'refused' })
  }
  await settle(deps, [], unfunded)
  await putOffRuns(platform.pool, again)
}

const releasedOf = ({ id, held_until, failures }: DueRun, now: number): PutOff => ({ id, held_until, failures, due_at: isoTime(now + againMs) })

/** Ends runs, and puts others off: until their tries are used up, when they have failed. */
async function settle({ platform: { pool, clock, metrics } }: RunDeps, ended: readonly Ended[], later: readonly Later[]): Promise<void> {
  const now = clock.now()
  const failed = later
    .filter(({ run }) => run.failures >= retriesMax)
    .map(({ run: { id, held_until }, code }): Ended => ({ id, held_until, status: 'failed', reason: code }))
  const putOff = later
    .filter(({ run }) => run.failures < retriesMax)
    .map(({ run: { id, held_until, failures } }): PutOff => {
      return { id, held_until, failures: failures + 1, due_at: isoTime(now + Math.min(retryAfterMaxMs, retryAfterMs * 2 ** failures)) }
    })
  const ends = [...ended, ...failed]
  await endRuns(pool, ends)
  await putOffRuns(pool, putOff)
  for (const { status } of ends) metrics.automation_runs.inc({ outcome: status })
  if (putOff.length > 0) metrics.automation_runs.inc({ outcome: 'put_off' }, putOff.length)
}
