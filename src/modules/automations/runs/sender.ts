/** Sends due runs: each is decided on, then submitted, postponed or ended (behaviour: integrations 6.8). */
import type { Priority } from '../../../api/resources/message.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { AutomationDeps } from '../deps.ts'
import type { RunContext } from './context.ts'
import { decide, type Decision } from './decision.ts'
import { type DueRun, type Ended, endRuns, type Postponed, postponeRuns } from './due-repository.ts'
import type { ItemOutcome } from '../../messages/service.ts'
import { connectionLost, neverSent } from '../../../platform/database/failures.ts'
import { sqlState } from '../../../platform/database/sql.ts'

export type RunTraffic = 'interactive' | 'bulk'

const decidedAtOnce = 16
/** Doubled for each retry. */
const retryAfterMs = 5000
const retryAfterMaxMs = 600_000
/** An hour in all: later the event is old news. */
const retriesMax = 12
/** After a failure that is not the run's: another process has it, or the database failed. */
const retryMs = 1000

async function release(
  { platform: { pool, clock } }: AutomationDeps,
  runs: readonly RunContext[],
  after_ms: number,
): Promise<void> {
  const next_run_at = isoTime(clock.now() + after_ms)
  await postponeRuns(
    pool,
    runs.map(({ run: { id, claimed_until, failures } }) => ({ id, claimed_until, failures, next_run_at })),
  )
}

/** Never rejects. */
export async function sendRuns(deps: AutomationDeps, runs: readonly RunContext[], traffic: RunTraffic): Promise<void> {
  const { platform } = deps
  try {
    const decisions = await decideAll(deps, runs, traffic === 'bulk' ? 'low' : 'normal')
    await finish(
      deps,
      decisions.flatMap((decision) => (decision.kind === 'end' ? [decision.endFound] : [])),
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
    const retry = isDatabaseError(error)
      ? release(deps, runs, retryMs)
      : postponeFailed(
          deps,
          runs.map(({ run }) => run),
        )
    await retry.catch((more: unknown) =>
      platform.log.error({ err: more }, 'that runs could not be sent could not be counted'),
    )
  }
}

const isDatabaseError = (error: unknown): boolean =>
  connectionLost(error) || neverSent(error) || sqlState(error) !== undefined

/** Data that PostgreSQL cannot read (22…) is due to a single run. */
export const isNotRunError = (error: unknown): boolean =>
  isDatabaseError(error) && sqlState(error)?.startsWith('22') !== true

export const postponeFailed = (
  deps: AutomationDeps,
  runs: readonly DueRun[],
  retries_max = retriesMax,
): Promise<void> =>
  finish(
    deps,
    [],
    runs.map((run) => ({ kind: 'later', run, code: 'internal_error' })),
    retries_max,
  )

async function decideAll(deps: AutomationDeps, runs: readonly RunContext[], priority: Priority): Promise<Decision[]> {
  const decisions: Decision[] = []
  for (let from = 0; from < runs.length; from += decidedAtOnce) {
    decisions.push(
      ...(await Promise.all(runs.slice(from, from + decidedAtOnce).map((read) => decideOne(deps, read, priority)))),
    )
    if (from + decidedAtOnce < runs.length) await new Promise((resolve) => setImmediate(resolve))
  }
  return decisions
}

async function decideOne(deps: AutomationDeps, read: RunContext, priority: Priority): Promise<Decision> {
  try {
    return await decide(deps, read, priority)
  } catch (error) {
    if (isNotRunError(error)) throw error
    deps.platform.log.error({ err: error, run_id: read.run.id }, 'a run could not be decided; it is retried')
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
      producer: { kind: 'automation' },
    })
  // one by one: an interactive submission succeeds or fails as a whole
  const outcomes =
    traffic === 'bulk' ? await submitted(items) : (await Promise.all(items.map((item) => submitted([item])))).flat()
  await finishOutcomes(deps, sending, outcomes)
}

async function finishOutcomes(
  deps: AutomationDeps,
  sending: readonly Sending[],
  outcomes: readonly ItemOutcome[],
): Promise<void> {
  const { platform } = deps
  const now = platform.clock.now()
  const unfunded: Later[] = []
  const retry: Postponed[] = []
  for (const [i, { kind }] of outcomes.entries()) {
    const { run } = sending[i]!
    if (kind === 'accepted') {
      platform.metrics.automation_run_lag_seconds.observe(Math.max(0, now - Date.parse(run.scheduled_for)) / 1000)
      platform.metrics.automation_runs.inc({ outcome: 'sent' })
    } else if (kind === 'no_funds') unfunded.push({ kind: 'later', run, code: 'insufficient_balance' })
    else if (kind === 'withdrawn' || kind === 'unavailable') retry.push(retryOf(run, now))
    else if (kind === 'refused') platform.metrics.automation_runs.inc({ outcome: 'refused' })
  }
  await finish(deps, [], unfunded)
  await postponeRuns(platform.pool, retry)
}

const retryOf = ({ id, claimed_until, failures }: DueRun, now: number): Postponed => ({
  id,
  claimed_until,
  failures,
  next_run_at: isoTime(now + retryMs),
})

async function finish(
  { platform: { pool, clock, metrics } }: AutomationDeps,
  endFound: readonly Ended[],
  later: readonly Later[],
  retries_max = retriesMax,
): Promise<void> {
  const now = clock.now()
  const failed = later
    .filter(({ run }) => run.failures >= retries_max)
    .map(({ run: { id, claimed_until }, code }): Ended => ({ id, claimed_until, status: 'failed', reason: code }))
  const postponed = later
    .filter(({ run }) => run.failures < retries_max)
    .map(({ run: { id, claimed_until, failures } }): Postponed => {
      return {
        id,
        claimed_until,
        failures: failures + 1,
        next_run_at: isoTime(now + Math.min(retryAfterMaxMs, retryAfterMs * 2 ** failures)),
      }
    })
  const ends = [...endFound, ...failed]
  await endRuns(pool, ends)
  await postponeRuns(pool, postponed)
  for (const { status } of ends) metrics.automation_runs.inc({ outcome: status })
  if (postponed.length > 0) metrics.automation_runs.inc({ outcome: 'put_off' }, postponed.length)
}
