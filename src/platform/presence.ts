/** Tells whether other processes of this installation are running: each holds a shared lock for as long as it lives, so the death of one shows at once. */
import { advisoryLocks } from './database/locks.ts'
import type { ReservedSql } from 'postgres'
import type { Pool } from './database/sql.ts'
import type { Platform } from './platform.ts'

export interface Presence {
  /** Takes part. When no other process does, what dead ones had claimed is free at once (decisions 4). */
  open(): Promise<void>
  /** Takes part again after the connection was lost; cheap otherwise. */
  keep(): Promise<void>
  close(): void
}

export function presence(platform: Platform): Presence {
  let session: ReservedSql | undefined
  const reserve = async (pool: Pool) => {
    session = await pool.reserve()
    return session
  }
  return {
    async open() {
      const sql = await reserve(platform.pool)
      const [row] = await sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${advisoryLocks.presence}) as alone`
      await sql`select pg_advisory_lock_shared(${advisoryLocks.presence})`
      if (row!.alone) {
        await platform.pool`delete from processes where id <> ${platform.process_id}`
        await sql`select pg_advisory_unlock(${advisoryLocks.presence})`
      }
    },
    async keep() {
      try {
        await session?.unsafe('select 1')
      } catch {
        // the connection is gone, and the lock with it
        session?.release()
        session = undefined
        await (await reserve(platform.pool))`select pg_advisory_lock_shared(${advisoryLocks.presence})`
      }
    },
    close() {
      session?.release()
      session = undefined
    },
  }
}
