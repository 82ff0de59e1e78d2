/**
 * The worker `automation-runs`: takes the runs that are due, of many sources side by side, and sends them. A source with a flood of them gets its share and holds no other up (behaviour: integrations 6.9); few at a time go
 * as a request's message does, many as bulk, a piece at a time, which leaves requests their pace.
 */
import { isoTime, pause } from '../../../lib/clock.ts'
import type { AutomationDeps } from '../deps.ts'
import { type ReadRun, readRuns } from './context.ts'
import { anyDue, type DueRun, type DueSource, listDueSources, readDue, takeDue, type Wanted } from './due-repository.ts'
import { putOffFailed, type RunTraffic, saysNothingOf, sendRuns } from './sender.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'

/** Between two looks, while some are sent and while none is due. */
const lookEveryMs = 100
const idleLookEveryMs = 250
/** A process that dies leaves what it took to the others after this. */
const leaseMs = 30_000
const sourcesMax = 200
const scannedMax = 5000
/** Sources with at most so many due send them as interactive traffic, together at most so many within `lookEveryMs`: a flood may be of many sources. */
const fewMax = 5
const interactiveMax = 20
/** Of floods so many go at a time, whatever their sources: a request that comes meanwhile waits for no more than that. */
const pieceRuns = 24
/** In a process that is alone a piece is followed by a rest that is so many times as long as the piece took, in which requests find the machine idle. Beside others submitting rests by itself. */
const restFactor = 2
const restMaxMs = 1000

interface Sending {
  readonly deps: AutomationDeps
  readonly alone: () => boolean
  /** Runs in hand, by id. */
  readonly inHand: Map<string, DueRun>
  readonly working: Set<Promise<void>>
  /** Runs that went as interactive traffic since a moment of the machine, in milliseconds. */
  readonly interactive: { since: number; runs: number }
  /** A piece of floods is under way, or its rest. */
  flooding: boolean
  /** Behind which source the next look begins. */
  after: string
  /** Floods that had their turn since all of them had. */
  turn: number
}

/** `alone`: no other process takes requests or works. */
export function runsWorker(deps: AutomationDeps, alone: () => boolean): Worker {
  const sending: Sending = {
    deps,
    alone,
    inHand: new Map(),
    working: new Set(),
    interactive: { since: 0, runs: 0 },
    flooding: false,
    after: '',
    turn: 0,
  }
  return {
    name: 'automation-runs',
    idle_ms: idleLookEveryMs,
    async tick(stopping) {
      let begun = 0
      try {
        do {
          begun += await begin(sending, stopping)
          await oneDoneOrLate(sending)
        } while (sending.working.size > 0 && stopping?.aborted !== true)
      } finally {
        await Promise.all(sending.working)
      }
      return begun
    },
  }
}

/** Resolves when some of it is done, or when there may be more to do. */
async function oneDoneOrLate({ deps, working }: Sending): Promise<void> {
  if (working.size === 0) return
  const done = new AbortController()
  await Promise.race([...working, deps.platform.clock.sleep(lookEveryMs, done.signal)])
  done.abort()
}

/** Takes what is due and begins to send it; resolves to how many runs that were. */
async function begin(sending: Sending, stopping: AbortSignal | undefined): Promise<number> {
  const { platform } = sending.deps
  const began = performance.now()
  const at = isoTime(platform.clock.now())
  if (sending.inHand.size === 0 && !(await anyDue(platform.pool, at))) return 0
  const { few, floods } = await look(sending, at)
  const taken = await take(sending, [...few, ...floods], at)
  if (taken.length === 0) return 0
  const runs = await readEach(sending.deps, taken)
  const fewIds = new Set(few.map(({ source_id }) => source_id))
  const singles = runs.filter(({ run }) => fewIds.has(run.source_id))
  const piece = runs.filter(({ run }) => !fewIds.has(run.source_id))
  if (singles.length > 0) send(sending, singles, 'interactive')
  if (piece.length > 0) {
    sending.flooding = true
    send(sending, piece, 'bulk', async () => {
      const took = performance.now() - began
      if (sending.alone() && stopping?.aborted !== true) await pause(Math.min(restMaxMs, restFactor * took))
      sending.flooding = false
    })
  }
  return taken.length
}

/** How much is wanted of which sources: all of those with few, and of the others their shares of a piece, unless one is under way. */
async function look(sending: Sending, at: string): Promise<{ few: Wanted[]; floods: Wanted[] }> {
  const { deps, inHand, after, flooding } = sending
  const { sources, next } = await listDueSources(deps.platform.pool, {
    at,
    but: [...inHand.keys()],
    after,
    scanned_max: scannedMax,
    sources_max: sourcesMax,
    counted_max: fewMax + 1,
  })
  sending.after = next
  const busy = new Set([...inHand.values()].map(({ source_id }) => source_id))
  const few: Wanted[] = []
  const many: DueSource[] = []
  let room = interactiveRoom(sending)
  for (const source of sources) {
    const { source_id, due } = source
    if (due > Math.min(fewMax, room) || busy.has(source_id)) many.push(source)
    else {
      few.push({ source_id, most: due })
      room -= due
      sending.interactive.runs += due
    }
  }
  return { few, floods: flooding ? [] : sharesOf(sending, many) }
}

/** How many runs may go as interactive traffic now. */
function interactiveRoom({ interactive }: Sending): number {
  const now = performance.now()
  if (now >= interactive.since + lookEveryMs) {
    interactive.since = now
    interactive.runs = 0
  }
  return interactiveMax - interactive.runs
}

/** As many of each as a piece has room for; where there are more sources than that they take turns. */
function sharesOf(sending: Sending, sources: readonly DueSource[]): Wanted[] {
  if (sources.length === 0) return []
  const from = sending.turn < sources.length ? sending.turn : 0
  const chosen = sources.slice(from, from + pieceRuns)
  sending.turn = from + chosen.length
  const [most, over] = [Math.floor(pieceRuns / chosen.length), pieceRuns % chosen.length]
  return chosen.map(({ source_id }, n) => ({ source_id, most: n < over ? most + 1 : most }))
}

async function take({ deps, alone, inHand }: Sending, wanted: readonly Wanted[], at: string): Promise<DueRun[]> {
  const { pool, clock } = deps.platform
  if (wanted.length === 0) return []
  const taken = alone()
    ? await readDue(pool, wanted, at, [...inHand.keys()])
    : await takeDue(pool, wanted, at, isoTime(clock.now() + leaseMs))
  // what was held for so long that it is due again is in hand still
  return taken.filter(({ id }) => !inHand.has(id))
}

/** Reads runs; what nobody expected of one is found by halving and holds no other up: it is tried again alone. */
async function readEach(deps: AutomationDeps, runs: readonly DueRun[]): Promise<ReadRun[]> {
  try {
    return await readRuns(deps, runs)
  } catch (error) {
    if (saysNothingOf(error)) throw error
    if (runs.length > 1) {
      const half = Math.ceil(runs.length / 2)
      return [...(await readEach(deps, runs.slice(0, half))), ...(await readEach(deps, runs.slice(half)))]
    }
    deps.platform.log.error(
      { err: error, run_id: runs[0]!.id },
      'what a run is made of could not be read; it is tried again',
    )
    await putOffFailed(deps, runs)
    return []
  }
}

/** Sends runs, which are in hand until they are sent. `rest` comes after that. */
function send(
  { deps, inHand, working }: Sending,
  runs: readonly ReadRun[],
  traffic: RunTraffic,
  rest?: () => Promise<void>,
): void {
  for (const { run } of runs) inHand.set(run.id, run)
  const worked = sendRuns(deps, runs, traffic)
    .finally(() => {
      for (const { run } of runs) inHand.delete(run.id)
      return rest?.()
    })
    .finally(() => working.delete(worked))
  working.add(worked)
}
