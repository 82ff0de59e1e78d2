/** Detects other processes: each holds a shared advisory lock while it lives, so a death shows at once. */
import type { ReservedSql } from '#postgres'
import { limits } from '../../api/limits.ts'
import { ageOf, isoTime, longAgo, mark } from '../../lib/clock.ts'
import { advisoryLocks } from '../database/locks.ts'
import { sqlState, type Db, type Fragment } from '../database/sql.ts'
import type { Platform } from '../platform.ts'

export interface ProcessRegistry {
  /** Waits until a process that was alone has run `beforeSharing` or counts as dead (behaviour: messages 7.7). */
  open(): Promise<void>
  /** `beat` runs on the connection of the lock, because tenants may use all others. */
  renew(beat: (sql: Db) => Promise<void>): Promise<void>
  alone(): boolean
  close(): void
}

export interface ProcessHooks {
  readonly beforeSharing: () => Promise<void>
  readonly wakePeers: () => void
}

/** Less than the silence after which a process counts as dead. */
const trustedForMs = limits.process_silent_ms - 2_000
const lockWaitAgainMs = 500
const { processes: key } = advisoryLocks

const answers = async (sql: ReservedSql): Promise<boolean> =>
  await sql.unsafe('select 1').then(
    () => true,
    () => false,
  )

const tryAlone = async (sql: ReservedSql): Promise<boolean> => {
  const [row] = await sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${key}) as alone`
  return row!.alone
}

async function share(sql: ReservedSql, wait_ms: number): Promise<boolean> {
  await sql`select set_config('lock_timeout', ${`${wait_ms}ms`}, false)`
  try {
    await sql`select pg_advisory_lock_shared(${key})`
    return true
  } catch (error) {
    if (sqlState(error) === '55P03') return false
    throw error
  } finally {
    await sql`select set_config('lock_timeout', '0', false)`.catch(() => undefined) // the setting ended with the session
  }
}

async function hasOtherProcesses(sql: ReservedSql, process_id: string, alive_since: string): Promise<boolean> {
  const [row] = await sql<{ others: boolean }[]>`
    select exists (
      select from pg_locks
      where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())
        and classid::bigint = ${key}::bigint >> 32 and objid::bigint = ${key}::bigint & 4294967295
    ) or exists (
      select from processes
      where id <> ${process_id} and heartbeat_at > ${alive_since}
    ) as others`
  return row!.others
}

/** A process that is alone also holds the lock exclusively, so that a newcomer waits for `beforeSharing`. */
export function processRegistry(platform: Platform, hooks: ProcessHooks): ProcessRegistry {
  const { clock, log, pool, process_id } = platform
  let isOpen = false
  let session: ReservedSql | undefined
  let state: 'alone' | 'sharing' | 'together' = 'together'
  let shared = false
  let checked = longAgo

  async function check(sql: ReservedSql): Promise<void> {
    const began = mark(clock)
    if (!shared) shared = await share(sql, lockWaitAgainMs)
    // not alone until no other heartbeat is found
    if (state === 'together' && shared && (await tryAlone(sql))) state = 'sharing'
    if (state !== 'together') {
      if (await hasOtherProcesses(sql, process_id, isoTime(began.now_ms - limits.process_silent_ms))) {
        state = 'sharing'
        await hooks.beforeSharing()
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
      isOpen = true
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
        if (!shared) log.warn('another process did not respond in time; continuing without it')
      }
    },
    async renew(beat) {
      if (!isOpen) return await beat(pool)
      // the locks end with the connection
      if (session !== undefined && !(await answers(session))) forget()
      session ??= await pool.reserve()
      await check(session)
      await beat(session)
    },
    alone: () => state === 'alone' && ageOf(clock, checked) < trustedForMs,
    close() {
      isOpen = false
      forget()
    },
  }
}

export async function writeHeartbeat(sql: Db, process_id: string, roles: readonly string[], at: string): Promise<void> {
  await sql`
    insert into processes (id, roles, started_at, heartbeat_at)
    values (${process_id}, ${[...roles]}::text[], ${at}, ${at})
    on conflict (id) do update set heartbeat_at = excluded.heartbeat_at`
}

export async function isAnyWorkerAlive(sql: Db, alive_since: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from processes
    where heartbeat_at > ${alive_since} and 'worker' = any(roles)
    limit 1`
  return rows.length > 0
}

/** Other processes no longer own the work that they claimed. */
export const isAlive = (sql: Db, process_id: Fragment, alive_since: string): Fragment =>
  sql`exists (select from processes p where p.id = ${process_id} and p.heartbeat_at > ${alive_since})`
