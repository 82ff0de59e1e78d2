/** Detects when a world is idle, so that the test clock advances only while nothing but time is awaited. */
import { setImmediate as turn } from 'node:timers/promises'
import { pause, systemClock } from '../../src/lib/clock.ts'
import { poolUse } from '../../src/platform/database/pool.ts'
import type { Services } from '../../src/app.ts'
import type { Pool } from '../../src/platform/database/sql.ts'
import type { FakeClock } from './clock.ts'
import { within } from './waiting.ts'

export interface IdleWatch {
  readonly pools: Set<Pool>
  /** Bulk commits pause in real time, so the test clock waits until these are empty. */
  readonly ingests: Set<Services['ingest']>
  /** Resolves once no statement is running and its callers have handled the answers; also after a second in which somebody waits for a connection (the database is away), and after half a minute (the test may block a statement). */
  untilIdle(): Promise<void>
  /** Advances the clock by `step_ms` whenever the world is idle. */
  whileTimePasses<T>(work: () => Promise<T>, step_ms?: number): Promise<T>
}

/** Turns of the event loop without a statement; data between two sockets of this process needs fewer. */
const quietTurns = 10
const awayMs = 1_000
const blockedMs = 30_000
/** Longer pauses between checks count as this much: a suspended process receives no answers. */
const checkMs = 10

const machine = systemClock()

/** `idleHolders`: counts the reserved sessions that run nothing. */
export function watchIdle(clock: FakeClock, pool: Pool, idleHolders: () => Promise<number>): IdleWatch {
  const pools = new Set([pool])
  const ingests = new Set<Services['ingest']>()

  async function state(): Promise<'quiet' | 'waiting' | 'working'> {
    let [in_use, waiting] = [0, 0]
    for (const use of [...pools].map(poolUse)) {
      in_use += use.in_use
      waiting += use.waiting
    }
    if (waiting > 0) return 'waiting'
    for (const { interactive, bulk, unadmitted } of [...ingests].map((ingest) => ingest.load()))
      if (interactive + bulk + unadmitted > 0) return 'working'
    return in_use === 0 || in_use === (await idleHolders()) ? 'quiet' : 'working'
  }

  /** Once the work is over nothing advances the clock, so a second is enough. */
  async function untilIdle(isOver = () => false): Promise<void> {
    let [quiet, spent, waited, last] = [0, 0, 0, machine.now()]
    while (quiet < quietTurns) {
      const current = await state()
      const now = machine.now()
      const passed = Math.min(now - last, checkMs)
      last = now
      spent += passed
      waited = current === 'waiting' ? waited + passed : 0
      if (waited > awayMs || spent > (isOver() ? awayMs : blockedMs)) return
      quiet = current === 'quiet' ? quiet + 1 : 0
      if (quiet === quietTurns / 2) await pause(1)
      else await turn()
    }
  }

  async function passTime(isOver: () => boolean, step_ms: number): Promise<void> {
    for (;;) {
      await untilIdle(isOver)
      if (isOver()) return
      await clock.advance(step_ms)
    }
  }

  return {
    pools,
    ingests,
    untilIdle: () => untilIdle(),
    async whileTimePasses(work, step_ms = 25) {
      let over = false
      const done = work().finally(() => (over = true))
      // the caller gets this error from `done` below
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
