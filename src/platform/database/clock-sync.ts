/** Follows the database's clock, so that leases mean the same time on all machines (behaviour: operating 3.4). */
import type { SystemClock } from '../../lib/clock.ts'
import type { Db } from './sql.ts'

const samples = 3
const everyMs = 60_000

/** Resolves to the offset in milliseconds, which stays if the database fails. */
export async function syncClock(sql: Db, clock: SystemClock): Promise<number> {
  let best = { took_ms: Infinity, offset_ms: 0 }
  const before = clock.offset_ms
  for (let sample = 0; sample < samples; sample++) {
    const sent_at = clock.now()
    const [row] = await sql<{ ms: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`
    const received_at = clock.now()
    const took = received_at - sent_at
    if (took < best.took_ms) best = { took_ms: took, offset_ms: before + row!.ms - (sent_at + took / 2) }
  }
  const isWithinError = (offset_ms: number) => Math.abs(best.offset_ms - offset_ms) <= best.took_ms / 2 + 1
  const offset = [before, 0].find(isWithinError) ?? Math.round(best.offset_ms)
  clock.adjust(offset)
  return offset
}

export async function followClock(
  sql: Db,
  clock: SystemClock,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal)
    if (signal.aborted) return
    await syncClock(sql, clock).catch(onError)
  }
}
