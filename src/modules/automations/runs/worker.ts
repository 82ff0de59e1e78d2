/**
 * The worker `automation-runs`: sends due runs, sources in turn (behaviour: integrations 6.9). Few runs of a source are
 * interactive traffic; many are bulk traffic in chunks, which leave capacity to requests.
 */
import { limits } from '../../../api/limits.ts'
import { isoTime, pause } from '../../../lib/clock.ts'
import type { AutomationDeps } from '../deps.ts'
import { type RunContext, loadContexts } from './context.ts'
import {
  anyDue,
  type DueRun,
  type DueSource,
  listDueSources,
  listDue,
  claimDue,
  type Wanted,
} from './due-repository.ts'
import { postponeFailed, type RunTraffic, isNotRunError, sendRuns } from './sender.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'

const pollMs = 100
const idlePollMs = 250
const leaseMs = 30_000
const sourcesMax = 200
const scannedMax = 5000
/**
 * Sources with up to `smallMax` due runs send interactive traffic, together up to `interactiveMax` per poll interval.
 */
const smallMax = 5
const interactiveMax = 20
/** Of all sources together. A request waits for no more than that. */
const chunkRuns = 24
/**
 * A process that is alone pauses after each chunk for this multiple of its time, so that requests find it idle. Other
 * bulk submissions pace themselves.
 */
const pauseFactor = 2
const pauseMaxMs = 1000

interface Sending {
  readonly deps: AutomationDeps
  readonly alone: () => boolean
  readonly inProgress: Map<string, DueRun>
  readonly working: Set<Promise<void>>
  readonly interactive: { since: number; runs: number }
  largeInProgress: boolean
  after: string
  turn: number
}

/** `alone`: whether no other process accepts requests or runs workers. */
export function runsWorker(deps: AutomationDeps, alone: () => boolean): Worker {
  const sending: Sending = {
    deps,
    alone,
    inProgress: new Map(),
    working: new Set(),
    interactive: { since: 0, runs: 0 },
    largeInProgress: false,
    after: '',
    turn: 0,
  }
  return {
    name: 'automation-runs',
    poll_every_ms: idlePollMs,
    async tick(stopping) {
      let begun = 0
      try {
        do {
          begun += await startDue(sending, stopping)
          await progressOrTimeout(sending)
        } while (sending.working.size > 0 && stopping?.aborted !== true)
      } finally {
        await Promise.all(sending.working)
      }
      return begun
    },
  }
}

async function progressOrTimeout({ deps, working }: Sending): Promise<void> {
  if (working.size === 0) return
  const done = new AbortController()
  await Promise.race([...working, deps.platform.clock.sleep(pollMs, done.signal)])
  done.abort()
}

async function startDue(sending: Sending, stopping: AbortSignal | undefined): Promise<number> {
  const { platform } = sending.deps
  const began = performance.now()
  const at = isoTime(platform.clock.now())
  if (sending.inProgress.size === 0 && !(await anyDue(platform.pool, at))) return 0
  const { small, large } = await dueSources(sending, at)
  const claimed = await claim(sending, [...small, ...large], at)
  if (claimed.length === 0) return 0
  const runs = await loadEach(sending.deps, claimed)
  const smallIds = new Set(small.map(({ source_id }) => source_id))
  const singles = runs.filter(({ run }) => smallIds.has(run.source_id))
  const chunk = runs.filter(({ run }) => !smallIds.has(run.source_id))
  if (singles.length > 0) send(sending, singles, 'interactive')
  if (chunk.length > 0) {
    sending.largeInProgress = true
    send(sending, chunk, 'bulk', async () => {
      const elapsed = performance.now() - began
      if (sending.alone() && stopping?.aborted !== true) await pause(Math.min(pauseMaxMs, pauseFactor * elapsed))
      sending.largeInProgress = false
    })
  }
  return claimed.length
}

/** All runs of small sources, and shares of a chunk for large ones, unless a chunk is in progress. */
async function dueSources(sending: Sending, at: string): Promise<{ small: Wanted[]; large: Wanted[] }> {
  const { deps, inProgress, after, largeInProgress } = sending
  const { sources, next } = await listDueSources(deps.platform.pool, {
    at,
    excluded: [...inProgress.keys()],
    after,
    scanned_max: scannedMax,
    sources_max: sourcesMax,
    counted_max: smallMax + 1,
  })
  sending.after = next
  const busy = new Set([...inProgress.values()].map(({ source_id }) => source_id))
  const small: Wanted[] = []
  const many: DueSource[] = []
  let capacity = interactiveCapacity(sending)
  for (const source of sources) {
    const { source_id, due } = source
    if (due > Math.min(smallMax, capacity) || busy.has(source_id)) many.push(source)
    else {
      small.push({ source_id, most: due })
      capacity -= due
      sending.interactive.runs += due
    }
  }
  return { small, large: largeInProgress ? [] : sharesOf(sending, many) }
}

function interactiveCapacity({ interactive }: Sending): number {
  const now = performance.now()
  if (now >= interactive.since + pollMs) {
    interactive.since = now
    interactive.runs = 0
  }
  return interactiveMax - interactive.runs
}

function sharesOf(sending: Sending, sources: readonly DueSource[]): Wanted[] {
  if (sources.length === 0) return []
  const from = sending.turn < sources.length ? sending.turn : 0
  const selected = sources.slice(from, from + chunkRuns)
  sending.turn = from + selected.length
  const [most, over] = [Math.floor(chunkRuns / selected.length), chunkRuns % selected.length]
  return selected.map(({ source_id }, n) => ({ source_id, most: n < over ? most + 1 : most }))
}

async function claim({ deps, alone, inProgress }: Sending, wanted: readonly Wanted[], at: string): Promise<DueRun[]> {
  const { pool, clock } = deps.platform
  if (wanted.length === 0) return []
  const claimed = alone()
    ? await listDue(pool, wanted, at, [...inProgress.keys()])
    : await claimDue(pool, wanted, at, isoTime(clock.now() + leaseMs))
  // a run whose lease has expired may still be in progress here
  return claimed.filter(({ id }) => !inProgress.has(id))
}

/** Halves the runs to find one that causes an unexpected error, and postpones it alone. */
async function loadEach(deps: AutomationDeps, runs: readonly DueRun[]): Promise<RunContext[]> {
  try {
    return await loadContexts(deps, runs)
  } catch (error) {
    if (isNotRunError(error)) throw error
    if (runs.length > 1) {
      const half = Math.ceil(runs.length / 2)
      return [...(await loadEach(deps, runs.slice(0, half))), ...(await loadEach(deps, runs.slice(half)))]
    }
    deps.platform.log.error({ err: error, run_id: runs[0]!.id }, 'the data of a run could not be read; it is retried')
    await postponeFailed(deps, runs, limits.unreadable_max - 1)
    return []
  }
}

function send(
  { deps, inProgress, working }: Sending,
  runs: readonly RunContext[],
  traffic: RunTraffic,
  rest?: () => Promise<void>,
): void {
  for (const { run } of runs) inProgress.set(run.id, run)
  const worked = sendRuns(deps, runs, traffic)
    .finally(() => {
      for (const { run } of runs) inProgress.delete(run.id)
      return rest?.()
    })
    .finally(() => working.delete(worked))
  working.add(worked)
}
