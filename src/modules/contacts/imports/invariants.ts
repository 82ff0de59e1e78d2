/** What `posthorn doctor` proves of imports. */
import type { Invariant } from '../../../platform/platform.ts'
import { importBreaches } from './store.ts'

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
