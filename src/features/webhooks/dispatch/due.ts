/** What is due, read together with what is posted. */
import type { Db } from '../../../platform/database/sql.ts'
import { endWithoutEvent } from '../deliveries/store.ts'
import type { EventBodies } from './event-bodies.ts'
import * as store from './queue-store.ts'

/** What is due, with the bodies in memory; `gone` is ended, for its events are no longer kept. */
export async function readDueWithBodies(
  pool: Db,
  bodies: EventBodies,
  wants: readonly store.ReadAhead[],
): Promise<{ rows: store.DueRow[]; gone: store.DueRow[] }> {
  const rows = await store.readDue(pool, wants)
  const gone = await bodies.load(rows)
  if (gone.length > 0) await endWithoutEvent(pool, gone)
  return { rows, gone }
}
