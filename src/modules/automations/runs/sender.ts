/** Sends due runs: each decided, submitted, and put off or ended where no message comes of it (behaviour: integrations 6.8). */
import type { Priority } from '../../../api/resources/message.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { AutomationDeps } from '../deps.ts'
import type { ReadRun } from './context.ts'
import { decide, type Decision } from './decision.ts'
import { type DueRun, type Ended, endRuns, type PutOff, putOffRuns } from './due-repository.ts'
import type { ItemOutcome } from '../../messages/service.ts'
import { connectionLost, neverSent } from '../../../platform/database/failures.ts'
import { sqlState } from '../../../platform/database/sql.ts'

export type RunTraffic = 'interactive' | 'bulk'

/** Decided between two turns of the loop. */
const decidedAtOnce = 16
/** A run that could not be sent is tried again after this, then twice, four times as long, … */
const retryAfterMs = 5000
const retryAfterMaxMs = 600_000
/** Tries after the first one, an hour in all: what has happened is news no longer. */
const retriesMax = 12
/** After what says nothing of the run itself: somebody else has it, or nothing can be stored. */
const againMs = 1000

/** Gives runs back, to be taken up after so many milliseconds. */
async function leave(
  { platform: { pool, clock } }: AutomationDeps,
  runs: readonly ReadRun[],
  after_ms: number,
): Promise<void> {
  const next_run_at = isoTime(clock.now() + after_ms)
  await putOffRuns(
    pool,
    runs.map(({ run: { id, held_until, failures } }) => ({ id, held_until, failures, next_run_at })),
  )
}

/** Never rejects: what fails is tried again. */
export async function sendRuns(deps: AutomationDeps, runs: readonly ReadRun[], traffic: RunTraffic): Promise<void> {
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
    platform.log.error(
      { err: error, source_ids: [...new Set(runs.map(({ run }) => run.source_id))] },
      'runs could not be sent; they are tried again',
    )
    const again = isOfDatabase(error)
      ? leave(deps, runs, againMs)
      : putOffFailed(
          deps,
          runs.map(({ run }) => run),
        )
    await again.catch((more: unknown) =>
      platform.log.error({ err: more }, 'that runs could not be sent could not be counted'),
    )
  }
}

/** The database could not be asked: that is no failure of these runs. */
const isOfDatabase = (error: unknown): boolean =>
  connectionLost(error) || neverSent(error) || sqlState(error) !== undefined

/** Whether what failed says nothing of the one run that was looked at: what the database cannot read of its data (22…) does. */
export const saysNothingOf = (error: unknown): boolean =>
  isOfDatabase(error) && sqlState(error)?.startsWith('22') !== true

/** Counts a failure of runs that nobody expected: they are tried again until their tries are used up. */
export const putOffFailed = (deps: AutomationDeps, runs: readonly DueRun[]): Promise<void> =>
  settle(
    deps,
    [],
    runs.map((run) => ({ kind: 'later', run, code: 'internal_error' })),
  )

async function decideAll(deps: AutomationDeps, runs: readonly ReadRun[], priority: Priority): Promise<Decision[]> {
  const decisions: Decision[] = []
  for (let from = 0; from < runs.length; from += decidedAtOnce) {
    decisions.push(
      ...(await Promise.all(runs.slice(from, from + decidedAtOnce).map((read) => decideAlone(deps, read, priority)))),
    )
    if (from + decidedAtOnce < runs.length) await new Promise((resolve) => setImmediate(resolve))
  }
  return decisions
}

/** What nobody expected of a run is this run's alone. */
async function decideAlone(deps: AutomationDeps, read: ReadRun, priority: Priority): Promise<Decision> {
  try {
    return await decide(deps, read, priority)
  } catch (error) {
    if (saysNothingOf(error)) throw error
    deps.platform.log.error(
      { err: error, run_id: read.run.id },
      'what becomes of a run could not be told; it is tried again',
    )
    return { kind: 'later', run: read.run, code: 'internal_error' }
  }
}

type Sending = Extract<Decision, { kind: 'send' }>
type Later = Extract<Decision, { kind: 'later' }>

async function submit(
  deps: AutomationDeps,
  automation_id: string,
  sending: readonly Sending[],
  traffic: RunTraffic,
): Promise<void> {
  const items = sending.map(({ run, message }) => ({ message, submission_key: run.id }))
  const submitted = (some: typeof items) =>
    deps.messages.submit({
      origin: { type: 'automation', id: automation_id },
      traffic,
      items: some,
      alongside: { kind: 'automation' },
    })
  // each alone: an interactive submission is decided as a whole
  const outcomes =
    traffic === 'bulk' ? await submitted(items) : (await Promise.all(items.map((item) => submitted([item])))).flat()
  await settleOutcomes(deps, sending, outcomes)
}

async function settleOutcomes(
  deps: AutomationDeps,
  sending: readonly Sending[],
  outcomes: readonly ItemOutcome[],
): Promise<void> {
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

const releasedOf = ({ id, held_until, failures }: DueRun, now: number): PutOff => ({
  id,
  held_until,
  failures,
  next_run_at: isoTime(now + againMs),
})

/** Ends runs, and puts others off: until their tries are used up, when they have failed. */
async function settle(
  { platform: { pool, clock, metrics } }: AutomationDeps,
  ended: readonly Ended[],
  later: readonly Later[],
): Promise<void> {
  const now = clock.now()
  const failed = later
    .filter(({ run }) => run.failures >= retriesMax)
    .map(({ run: { id, held_until }, code }): Ended => ({ id, held_until, status: 'failed', reason: code }))
  const putOff = later
    .filter(({ run }) => run.failures < retriesMax)
    .map(({ run: { id, held_until, failures } }): PutOff => {
      return {
        id,
        held_until,
        failures: failures + 1,
        next_run_at: isoTime(now + Math.min(retryAfterMaxMs, retryAfterMs * 2 ** failures)),
      }
    })
  const ends = [...ended, ...failed]
  await endRuns(pool, ends)
  await putOffRuns(pool, putOff)
  for (const { status } of ends) metrics.automation_runs.inc({ outcome: status })
  if (putOff.length > 0) metrics.automation_runs.inc({ outcome: 'put_off' }, putOff.length)
}
