/**
 * The lane `automation-runs`: takes the runs that are due, of many sources side by side, and sends them. A source with a flood of them gets its share and holds no other up (behaviour: integrations 6.9); few at a time go
 * as a request's message does, many as bulk, which leaves requests their pace.
 */
import type { Lane } from '../../../lib/loop.ts'
import { isoTime, pause } from '../../../lib/clock.ts'
import type { RunDeps } from './deps.ts'
import { anyDue, listDueSources, takeDue, type DueRun } from './due-store.ts'
import { readRuns, type ReadRun } from './facts.ts'
import { sendRuns, slices, type RunTraffic, type Slices } from './sender.ts'

/** Between two looks. */
const lookEveryMs = 100
const restMs = 10
/** A process that dies leaves what it took to the others after this. */
const leaseMs = 30_000
/** Runs in hand: of one source, half of them at a time so that the next are ready, and about so many in all. Few, so that none waits long for its slice. */
const ofSourceMax = 256
const inHandMax = 512
/** What every source gets at a look, whatever the others have. */
const shareMin = 10
const sourcesMax = 200
const scannedMax = 5000
/** Sources with at most so many due send them as interactive traffic, at most so many a look. */
const fewMax = 5
const interactiveMax = 20

interface Sending {
  readonly deps: RunDeps
  /** Runs in hand, by source and id. */
  readonly inHand: Map<string, Map<string, DueRun>>
  /** Behind which source the next look begins. */
  after: string
  readonly inTurn: Slices
}

/** `alone`: no other process takes requests or works. */
export function runsLane(deps: RunDeps, alone: () => boolean): Lane {
  const sending: Sending = { deps, inHand: new Map(), after: '', inTurn: slices(alone) }
  return {
    name: 'automation-runs',
    idle_ms: lookEveryMs,
    async tick(stopping) {
      const working = new Set<Promise<void>>()
      let taken = 0
      try {
        do {
          taken += await begin(sending, working, stopping)
          await oneDoneOrLate(deps, working)
        } while (working.size > 0 && stopping?.aborted !== true)
      } finally {
        await Promise.all(working)
      }
      return taken
    },
  }
}

/** Resolves when some of it is done, or when there may be more to do. */
async function oneDoneOrLate({ platform: { clock } }: RunDeps, working: ReadonlySet<Promise<void>>): Promise<void> {
  if (working.size === 0) return
  const done = new AbortController()
  await Promise.race([...working, clock.sleep(lookEveryMs, done.signal)])
  done.abort()
  // what ends at the same moment is looked at together
  await pause(restMs)
}

/** Takes what is due and begins to send it; resolves to how many runs that were. */
async function begin(sending: Sending, working: Set<Promise<void>>, stopping: AbortSignal | undefined): Promise<number> {
  const { deps, inHand } = sending
  const bySource = await take(sending)
  let room = interactiveMax
  for (const [source_id, runs] of [...bySource].toSorted(([, a], [, b]) => a.length - b.length)) {
    const traffic: RunTraffic = runs.length <= Math.min(fewMax, room) && inHand.get(source_id) === undefined ? 'interactive' : 'bulk'
    if (traffic === 'interactive') room -= runs.length
    const held = inHand.get(source_id) ?? new Map<string, DueRun>()
    inHand.set(source_id, held)
    for (const { run } of runs) held.set(run.id, run)
    const worked = sendRuns(deps, sending.inTurn, runs, traffic, stopping).finally(() => {
      working.delete(worked)
      for (const { run } of runs) held.delete(run.id)
      if (held.size === 0) inHand.delete(source_id)
    })
    working.add(worked)
  }
  return [...bySource.values()].reduce((sum, { length }) => sum + length, 0)
}

/** Due runs by their source. */
async function take(sending: Sending): Promise<Map<string, ReadRun[]>> {
  const { deps, inHand } = sending
  const { pool, clock } = deps.platform
  const now = clock.now()
  const at = isoTime(now)
  const total = [...inHand.values()].reduce((sum, { size }) => sum + size, 0)
  if (total >= 2 * inHandMax || !(await anyDue(pool, at))) return new Map()
  const but = [...inHand].filter(([, { size }]) => size > ofSourceMax / 2).map(([source_id]) => source_id)
  const { due, next } = await listDueSources(pool, { at, but, after: sending.after, scanned_max: scannedMax, sources_max: sourcesMax })
  sending.after = next
  if (due.length === 0) return new Map()
  const share = Math.max(shareMin, Math.min(ofSourceMax / 2, Math.floor((inHandMax - total) / due.length)))
  const wanted = due.map((source_id) => ({ source_id, most: share }))
  const taken = await takeDue(pool, wanted, at, isoTime(now + leaseMs))
  const runs = taken.filter((run) => !holdOn(inHand, run))
  return Map.groupBy(runs.length === 0 ? [] : await readRuns(deps, runs), ({ run }) => run.source_id)
}

/** True for a run that is in hand already and was held for too long: it is this process's for as long again. */
function holdOn(inHand: Sending['inHand'], { source_id, id, held_until }: DueRun): boolean {
  const held = inHand.get(source_id)?.get(id)
  if (held !== undefined) held.held_until = held_until
  return held !== undefined
}
