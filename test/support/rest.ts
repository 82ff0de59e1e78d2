/** Tells when a world is at rest, so that time can go on where nothing but time is waited for: what is computed or asked of the database is never overtaken by the clock. */
import { setImmediate as turn } from 'node:timers/promises'
import { pause, systemClock } from '../../src/lib/clock.ts'
import { poolUse } from '../../src/platform/database/pool.ts'
import type { Services } from '../../src/app.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import type { FakeClock } from './clock.ts'
import { within } from './waiting.ts'

export interface Rest {
  /** The pools of the processes that are watched. */
  readonly pools: Set<Pool>
  /** Where their messages wait to be committed, bulk with rests in the machine's time: the clock of the test stands while any does. */
  readonly ingests: Set<Services['ingest']>
  /**
   * Resolves once no statement is under way and what was answered has been acted on. A database that is away never rests: after a second for which somebody waits for a
   * connection. After half a minute at the latest, for a test may hold a statement up itself.
   */
  atRest(): Promise<void>
  /** Does the work while time goes on by `step_ms` whenever the world is at rest. */
  whileTimePasses<T>(work: () => Promise<T>, step_ms?: number): Promise<T>
}

/** Turns of the event loop in a row without a statement; what travels between sockets of this process takes fewer. */
const quietTurns = 10
const awayMs = 1_000
const heldUpMs = 30_000
/** The time between two checks counts at most this much: a suspended process receives no answers. */
const lookMs = 10

const machine = systemClock()

/** `idleHolders`: sessions that are reserved for good and have nothing to do. */
export function watchRest(clock: FakeClock, pool: Pool, idleHolders: () => Promise<number>): Rest {
  const pools = new Set([pool])
  const ingests = new Set<Services['ingest']>()

  async function seen(): Promise<'quiet' | 'waiting' | 'working'> {
    let [in_use, waiting] = [0, 0]
    for (const use of [...pools].map(poolUse)) {
      in_use += use.in_use
      waiting += use.waiting
    }
    if (waiting > 0) return 'waiting'
    for (const { interactive, bulk, outside } of [...ingests].map((ingest) => ingest.load()))
      if (interactive + bulk + outside > 0) return 'working'
    return in_use === 0 || in_use === (await idleHolders()) ? 'quiet' : 'working'
  }

  /** Where the work is over nothing moves the clock any more, so that a second is enough there. */
  async function atRest(isOver = () => false): Promise<void> {
    let [quiet, spent, waited, last] = [0, 0, 0, machine.now()]
    while (quiet < quietTurns) {
      const state = await seen()
      const now = machine.now()
      const passed = Math.min(now - last, lookMs)
      last = now
      spent += passed
      waited = state === 'waiting' ? waited + passed : 0
      if (waited > awayMs || spent > (isOver() ? awayMs : heldUpMs)) return
      quiet = state === 'quiet' ? quiet + 1 : 0
      if (quiet === quietTurns / 2) await pause(1)
      else await turn()
    }
  }

  async function passTime(isOver: () => boolean, step_ms: number): Promise<void> {
    for (;;) {
      await atRest(isOver)
      if (isOver()) return
      await clock.advance(step_ms)
    }
  }

  return {
    pools,
    ingests,
    atRest: () => atRest(),
    async whileTimePasses(work, step_ms = 25) {
      let over = false
      const done = work().finally(() => (over = true))
      // told to the caller below, also when it comes before
      done.catch(() => undefined)
      const passing = passTime(() => over, step_ms)
      try {
        return await within('work to end while time passes', done)
      } finally {
        over = true
        await passing
      }
    },
  }
}
