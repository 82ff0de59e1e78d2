/** Changes of automations, in which what their source shows of them is kept true: `enabled_events`, `event_settings` and the version of its configuration (behaviour: integrations 1.4, 1.5). */
import { isDeepStrictEqual } from 'node:util'
import type { Tenant } from '../../../api/caller.ts'
import { isId } from '../../../api/ids.ts'
import { missing } from '../../../api/problem.ts'
import type { Transaction } from '../../../platform/database/sql.ts'
import { lockSource, raiseConfigVersion } from '../sources/store.ts'
import { enabledEventsOf } from './store.ts'

/**
 * Changes automations of a source, which is locked until the transaction ends: no event is reported meanwhile. Its version is raised where the source shows the change.
 * 404 `resource_missing` when there is no such source.
 */
export async function changeAutomations<T>(
  tx: Transaction,
  tenant: Tenant,
  source_id: string,
  change: () => Promise<T>,
): Promise<T> {
  if (!isId('src', source_id) || (await lockSource(tx, tenant, source_id)) === null)
    throw missing('integration source', source_id, 'source_id')
  return await changeOfLocked(tx, tenant, source_id, change)
}

/** The same for a source that is locked already. */
export async function changeOfLocked<T>(
  tx: Transaction,
  tenant: Tenant,
  source_id: string,
  change: () => Promise<T>,
): Promise<T> {
  const before = await enabledEventsOf(tx, tenant, [source_id])
  const changed = await change()
  if (!isDeepStrictEqual(before, await enabledEventsOf(tx, tenant, [source_id])))
    await raiseConfigVersion(tx, tenant, source_id)
  return changed
}
