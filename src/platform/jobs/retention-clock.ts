/**
 * The time by which data expires: the clock without jumps ahead of more than a day (behaviour: operating 3.5)
 * (docs/decisions/clock-jumps.md).
 */
import { isoTime, type SteadyClock } from '../../lib/clock.ts'
import type { Db, Pool } from '../database/sql.ts'
import type { Log } from '../observability/log.ts'

export interface RetentionClock {
  /** Never later than the clock. For deleting, writing off or failing something because of its age. */
  now(): number
  /** Rows created after a jump expire by the clock, others by `now`. */
  isPast(deadline_ms: number, created_at: string): boolean
  ahead_ms(): number
  /** Exchanges the trusted time through the database. */
  sync(sql: Db): Promise<void>
  /** Trusts the clock as it is, here and in running processes. */
  accept(): Promise<void>
  warnings(sql: Db): Promise<string[]>
}

export interface RetentionClockParts {
  readonly pool: Pool
  readonly clock: SteadyClock
  readonly log: Log
  readonly wakePeers: () => void
}

const jumpMs = 24 * 3600_000
const storeEveryMs = 60_000

interface State extends RetentionClockParts {
  trusted_ms: number
  trusted_elapsed: number
  stored_at: number
  warned: boolean
}

export function retentionClock(parts: RetentionClockParts): RetentionClock {
  const { pool, clock, wakePeers } = parts
  const state: State = {
    ...parts,
    trusted_ms: clock.now(),
    trusted_elapsed: clock.elapsed(),
    stored_at: -Infinity,
    warned: false,
  }
  return {
    now: () => clock.now() - aheadOf(state),
    isPast(deadline_ms, created_at) {
      const now = clock.now()
      if (deadline_ms > now) return false
      const retained_now = now - aheadOf(state)
      return deadline_ms <= (Date.parse(created_at) > retained_now ? now : retained_now)
    },
    ahead_ms: () => aheadOf(state),
    async sync(sql) {
      const elapsed = clock.elapsed()
      if (aheadOf(state) === 0 && elapsed - state.stored_at < storeEveryMs) return
      const stored = state.stored_at === -Infinity ? await initialTime(state, sql) : await exchange(state, sql)
      if (stored > expected(state)) trust(state, stored)
      state.stored_at = elapsed
      aheadOf(state)
    },
    async accept() {
      const now = clock.now()
      await pool`update installation set trusted_at = ${isoTime(now)}`
      trust(state, now)
      wakePeers()
    },
    async warnings(sql) {
      const stored = await storedTime(sql)
      const ahead_ms = stored === null ? 0 : clock.now() - stored
      return ahead_ms > jumpMs ? [warningText(ahead_ms)] : []
    },
  }
}

const expected = ({ clock, trusted_ms, trusted_elapsed }: State): number =>
  trusted_ms + clock.elapsed() - trusted_elapsed

function trust(state: State, at_ms: number): void {
  state.trusted_ms = at_ms
  state.trusted_elapsed = state.clock.elapsed()
}

function aheadOf(state: State): number {
  const now = state.clock.now()
  const ahead_ms = now - expected(state)
  if (ahead_ms > jumpMs) {
    if (!state.warned) state.log.error({ ahead_ms }, warningText(ahead_ms))
    state.warned = true
    return ahead_ms
  }
  if (state.warned) state.log.info('the clock is trusted again')
  state.warned = false
  if (ahead_ms > 0) trust(state, now)
  return 0
}

const warningText = (ahead_ms: number): string =>
  `The clock is ${(ahead_ms / jumpMs).toFixed(1)} days ahead of the expected time: it jumped, or the service did not run. Until this is settled no data expires. ` +
  'Correct the clock, or confirm it with `posthorn doctor --accept-clock`.'

async function initialTime(state: State, sql: Db): Promise<number> {
  const stored = await storedTime(sql)
  const now = expected(state)
  // no process has stored the time for more than a day
  if (stored !== null && now - stored > jumpMs) trust(state, stored)
  else await exchange(state, sql)
  return stored ?? now
}

async function exchange(state: State, sql: Db): Promise<number> {
  const [row] = await sql<{ trusted_at: string }[]>`
    update installation
    set trusted_at = greatest(trusted_at, ${isoTime(Math.floor(expected(state)))}::timestamptz)
    returning trusted_at`
  return row === undefined ? expected(state) : Date.parse(row.trusted_at)
}

/** Or the last heartbeat, without a trusted time. */
async function storedTime(sql: Db): Promise<number | null> {
  const [row] = await sql<{ known_at: string | null }[]>`
    select coalesce((select trusted_at from installation), (select max(heartbeat_at) from processes)) as known_at`
  return row!.known_at === null ? null : Date.parse(row!.known_at)
}
