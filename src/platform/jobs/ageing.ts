/**
 * The time by which things age out. It follows the clock but no jump of more than a day ahead, which nothing that is deleted survives: what the clock should
 * show is known from a time in the database and from how long this process has run since (behaviour: operating 3.5). Why so: docs/decisions/clock-jumps.md.
 */
import { isoTime, type SteadyClock } from '../../lib/clock.ts'
import type { Db, Pool } from '../database/sql.ts'
import type { Log } from '../observability/log.ts'

export interface Ageing {
  /** Milliseconds since 1970, at most those of the clock. What is older than it keeps, seen from here, may be deleted. */
  now(): number
  /** Whether a deadline has passed for something made at `made_at` (ISO 8601): what the clock stamped after its jump ends by the clock, all else by `now`. */
  isPast(deadline_ms: number, made_at: string): boolean
  /** Milliseconds that the clock is ahead of what is believed; 0 where it is believed. */
  ahead_ms(): number
  /** Compares with what other processes and earlier ones knew, and writes down what this one knows; at every heartbeat. */
  keep(sql: Db): Promise<void>
  /** Believes the clock as it is, here and in running processes. */
  accept(): Promise<void>
  /** For `posthorn doctor`: what is wrong with the clock, in sentences. */
  doubts(sql: Db): Promise<string[]>
}

export interface AgeingParts {
  readonly pool: Pool
  readonly clock: SteadyClock
  readonly log: Log
  /** Wakes the heartbeats of running processes. */
  readonly wakePeers: () => void
}

const jumpMs = 24 * 3600_000
/** As long as the clock is believed the database is told this often. */
const keptEveryMs = 60_000

interface State extends AgeingParts {
  /** A time that is believed, and when it was on the clock that never jumps. */
  believed_ms: number
  believed_at: number
  kept_at: number
  /** Said in the log. */
  warned: boolean
}

export function ageing(parts: AgeingParts): Ageing {
  const { pool, clock, wakePeers } = parts
  const state: State = {
    ...parts,
    believed_ms: clock.now(),
    believed_at: clock.elapsed(),
    kept_at: -Infinity,
    warned: false,
  }
  return {
    now: () => clock.now() - aheadOf(state),
    isPast(deadline_ms, made_at) {
      const now = clock.now()
      if (deadline_ms > now) return false
      const aged = now - aheadOf(state)
      return deadline_ms <= (Date.parse(made_at) > aged ? now : aged)
    },
    ahead_ms: () => aheadOf(state),
    async keep(sql) {
      const elapsed = clock.elapsed()
      if (aheadOf(state) === 0 && elapsed - state.kept_at < keptEveryMs) return
      const known = state.kept_at === -Infinity ? await firstKnown(state, sql) : await exchange(state, sql)
      if (known > expected(state)) believe(state, known)
      state.kept_at = elapsed
      aheadOf(state)
    },
    async accept() {
      const now = clock.now()
      await pool`update installation set trusted_at = ${isoTime(now)}`
      believe(state, now)
      wakePeers()
    },
    async doubts(sql) {
      const known = await knownIn(sql)
      const ahead_ms = known === null ? 0 : clock.now() - known
      return ahead_ms > jumpMs ? [sentence(ahead_ms)] : []
    },
  }
}

const expected = ({ clock, believed_ms, believed_at }: State): number => believed_ms + clock.elapsed() - believed_at

function believe(state: State, at_ms: number): void {
  state.believed_ms = at_ms
  state.believed_at = state.clock.elapsed()
}

/** 0 for a clock that is believed, which is then followed. One that went back ages nothing, and is no reason to forget how late it was. */
function aheadOf(state: State): number {
  const now = state.clock.now()
  const ahead_ms = now - expected(state)
  if (ahead_ms > jumpMs) {
    if (!state.warned) state.log.error({ ahead_ms }, sentence(ahead_ms))
    state.warned = true
    return ahead_ms
  }
  if (state.warned) state.log.info('the clock is believed again')
  state.warned = false
  if (ahead_ms > 0) believe(state, now)
  return 0
}

const sentence = (ahead_ms: number): string =>
  `The clock is ${(ahead_ms / jumpMs).toFixed(1)} days ahead of what it should show: it jumped, or nothing ran in between. Nothing ages out by that. ` +
  'Set the clock right, or say that it is right with `posthorn doctor --accept-clock`.'

/** What was known when this process began, which from now on counts here. */
async function firstKnown(state: State, sql: Db): Promise<number> {
  const known = await knownIn(sql)
  const now = expected(state)
  // whatever ran before has not told how late it was for more than a day
  if (known !== null && now - known > jumpMs) believe(state, known)
  else await exchange(state, sql)
  return known ?? now
}

/** Writes down what this process believes where that is later; resolves to what stands there. */
async function exchange(state: State, sql: Db): Promise<number> {
  const [row] = await sql<{ trusted_at: string }[]>`
    update installation set trusted_at = greatest(trusted_at, ${isoTime(Math.floor(expected(state)))}::timestamptz) returning trusted_at`
  return row === undefined ? expected(state) : Date.parse(row.trusted_at)
}

/** Before the first time was kept, the last heartbeat of a process of the version before. */
async function knownIn(sql: Db): Promise<number | null> {
  const [row] = await sql<{ known_at: string | null }[]>`
    select coalesce((select trusted_at from installation), (select max(heartbeat_at) from processes)) as known_at`
  return row!.known_at === null ? null : Date.parse(row!.known_at)
}
