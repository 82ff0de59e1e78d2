/** Tells whether other processes of this installation are running: each holds a shared lock for as long as it lives, so the death of one shows at once. */
import { advisoryLocks } from '../database/locks.ts'
import type { ReservedSql } from '#postgres'
import { limits } from '../../api/limits.ts'
import { ageOf, isoTime, longAgo, mark } from '../../lib/clock.ts'
import { sqlState, type Db } from '../database/sql.ts'
import type { Platform } from '../platform.ts'

export interface Presence {
  /**
   * Takes part. When no other process does, what dead ones had claimed is free at once (behaviour: messages 7.7). One that is alone is asked to
   * make room first; one that is silent is waited for as long as it is not taken for dead.
   */
  open(): Promise<void>
  /**
   * Takes part again after the connection was lost, makes room for others, notices that they are gone; at every heartbeat. `beat` follows, on the connection that
   * holds the lock: it does not wait for those of the pool, all of which tenants may have in use.
   */
  keep(beat: (sql: Db) => Promise<void>): Promise<void>
  /** No other process serves or works before this one has made room for it. */
  alone(): boolean
  close(): void
}

export interface PresenceHooks {
  /** Called while this process stops being alone, before any other one begins. */
  readonly makeRoom: () => Promise<void>
  /** Wakes the heartbeats of other processes. */
  readonly wakePeers: () => void
}

/** What was found at a heartbeat is trusted so long: less than the silence after which others go on without us. */
const trustedForMs = limits.process_silent_ms - 2_000
const lockWaitAgainMs = 500
const { presence: key } = advisoryLocks

const answers = async (sql: ReservedSql): Promise<boolean> =>
  await sql.unsafe('select 1').then(
    () => true,
    () => false,
  )

const tryAlone = async (sql: ReservedSql): Promise<boolean> => {
  const [row] = await sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${key}) as alone`
  return row!.alone
}

/** False when the one that is alone did not make room in time. */
async function share(sql: ReservedSql, wait_ms: number): Promise<boolean> {
  await sql`select set_config('lock_timeout', ${`${wait_ms}ms`}, false)`
  try {
    await sql`select pg_advisory_lock_shared(${key})`
    return true
  } catch (error) {
    if (sqlState(error) === '55P03') return false
    throw error
  } finally {
    await sql`select set_config('lock_timeout', '0', false)`.catch(() => undefined) // the session is gone, and its setting with it
  }
}

/** Whether someone waits to be let in, or beats without having been. */
async function hasCompany(sql: ReservedSql, process_id: string, alive_since: string): Promise<boolean> {
  const [row] = await sql<{ company: boolean }[]>`
    select exists (
      select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())
        and classid::bigint = ${key}::bigint >> 32 and objid::bigint = ${key}::bigint & 4294967295
    ) or exists (
      select from processes where id <> ${process_id} and heartbeat_at > ${alive_since}
    ) as company`
  return row!.company
}

/**
 * Each process holds the lock shared; one that is alone holds it exclusively besides, so that a newcomer waits in `open` until
 * it has made room.
 */
export function presence(platform: Platform, hooks: PresenceHooks): Presence {
  const { clock, log, pool, process_id } = platform
  let takesPart = false
  let session: ReservedSql | undefined
  let state: 'alone' | 'making room' | 'together' = 'together'
  let shared = false
  let checked = longAgo

  async function look(sql: ReservedSql): Promise<void> {
    const began = mark(clock)
    if (!shared) shared = await share(sql, lockWaitAgainMs)
    // until it is known that nobody beats
    if (state === 'together' && shared && (await tryAlone(sql))) state = 'making room'
    if (state !== 'together') {
      if (await hasCompany(sql, process_id, isoTime(began.now_ms - limits.process_silent_ms))) {
        state = 'making room'
        await hooks.makeRoom()
        await sql`select pg_advisory_unlock(${key})`
        state = 'together'
      } else state = 'alone'
    }
    checked = began
  }

  function forget(): void {
    session?.release()
    session = undefined
    state = 'together'
    shared = false
  }

  return {
    async open() {
      takesPart = true
      session = await pool.reserve()
      const began = mark(clock)
      if (await tryAlone(session)) {
        shared = await share(session, lockWaitAgainMs)
        await pool`delete from processes where id <> ${process_id}`
        state = 'alone'
        checked = began
      } else {
        hooks.wakePeers()
        shared = await share(session, limits.process_silent_ms)
        if (!shared) log.warn('another process did not make room; going on without it')
      }
    },
    async keep(beat) {
      if (!takesPart) return await beat(pool)
      // the locks go with the connection
      if (session !== undefined && !(await answers(session))) forget()
      session ??= await pool.reserve()
      await look(session)
      await beat(session)
    },
    alone: () => state === 'alone' && ageOf(clock, checked) < trustedForMs,
    close() {
      takesPart = false
      forget()
    },
  }
}
