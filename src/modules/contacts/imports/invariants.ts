/** Invariants of imports. */
import type { Db } from '../../../platform/database/sql.ts'
import type { Invariant } from '../../../platform/platform.ts'

export const importInvariants: readonly Invariant[] = [
  {
    name: 'imports-account-for-every-row',
    breaches: async (sql) =>
      (await importBreaches(sql)).map(
        (row) =>
          `Import ${row.id} of ${row.account_id} is ${row.status} with ${row.counted} of ${row.total} rows dealt with, ${row.left} left${row.queued ? '' : ' and nobody to do them'}.`,
      ),
  },
]

async function importBreaches(
  sql: Db,
): Promise<
  { id: string; account_id: string; status: string; counted: number; total: number; left: number; queued: boolean }[]
> {
  return await sql<
    { id: string; account_id: string; status: string; counted: number; total: number; left: number; queued: boolean }[]
  >`
    select i.id, i.account_id, i.status, i.created + i.updated + i.rejected as counted, i.total, p.left,
      j.import_id is not null as queued
    from contact_imports i
    left join contact_import_jobs j on j.import_id = i.id
    cross join lateral (
      select coalesce(sum(rows), 0)::bigint as left from contact_import_chunks where import_id = i.id) p
    where (i.status in ('pending', 'running', 'completed')
        and i.created + i.updated + i.rejected + p.left <> i.total)
      or (i.status in ('pending', 'running')) <> (j.import_id is not null)
      or (i.status in ('completed', 'failed', 'cancelled') and p.left > 0)
    order by i.id
    limit 20`
}
