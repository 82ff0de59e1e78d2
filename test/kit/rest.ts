/** Tells when a world is at rest, so that time can go on where nothing but time is waited for: what is computed or asked of the database is never overtaken by the clock. */
import { setImmediate as turn } from 'node:timers/promises'
import { pause, systemClock } from '../../src/lib/clock.ts'
import { poolUse } from '../../src/platform/database/pool.ts'
import type { App } from '../../src/app.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import type { FakeClock } from './clock.ts'
import { within } from './waiting.ts'

export interface Rest {
  /** The pools of the processes that are watched. */
  readonly pools: Set<Pool>
  /** Where their messages wait to be committed, bulk with rests in the machine's time: the clock of the test stands while any does. */
  readonly ingests: Set<App['ingest']>
  /** Resolves once no statement is under way and what was answered has been acted on; after a second at the latest, for a database that is away never rests. */
  atRest(): Promise<void>
  /** Does the work while time goes on by `step_ms` whenever the world is at rest. */
  whileTimePasses<T>(work: () => Promise<T>, step_ms?: number): Promise<T>
}

/** Turns of the event loop in a row without a statement; what travels between sockets of this process takes fewer. */
const quietTurns = 10
const restlessMs = 1_000

const machine = systemClock()

/** `idleHolders`: sessions that are reserved for good and have nothing to do. */
export function watchRest(clock: FakeClock, pool: Pool, idleHolders: () => Promise<number>): Rest {
  const pools = new Set([pool])
  const ingests = new Set<App['ingest']>()

  async function isQuiet(): Promise<boolean> {
    for (const { interactive, bulk, outside } of [...ingests].map((ingest) => ingest.load())) if (interactive + bulk + outside > 0) return false
    let [in_use, waiting] = [0, 0]
    for (const use of [...pools].map(poolUse)) {
      in_use += use.in_use
      waiting += use.waiting
    }
    return waiting === 0 && (in_use === 0 || in_use === (await idleHolders()))
  }

  async function atRest(): Promise<void> {
    const deadline = machine.now() + restlessMs
    for (let quiet = 0; quiet < quietTurns && machine.now() < deadline;) {
      quiet = (await isQuiet()) ? quiet + 1 : 0
      if (quiet === quietTurns / 2) await pause(1)
      else await turn()
    }
  }

  async function passTime(isOver: () => boolean, step_ms: number): Promise<void> {
    for (;;) {
      await atRest()
      if (isOver()) return
      await clock.advance(step_ms)
    }
  }

  return {
    pools,
    ingests,
    atRest,
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
