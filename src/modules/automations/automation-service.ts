/** Creates, changes and deletes automations; cancels waiting runs that no longer apply. */
import { isDeepStrictEqual } from 'node:util'
import type { Caller, Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { missing, Problem } from '../../api/problem.ts'
import {
  type Automation,
  type AutomationCreation,
  automationLimits,
  type AutomationSimulation,
  type AutomationSimulationRequest,
  type AutomationUpdate,
} from '../../api/resources/automation.ts'
import { isoTime } from '../../lib/clock.ts'
import { InOrder } from '../../lib/concurrency.ts'
import { automationObject, type AutomationRow } from './automation.ts'
import type { AutomationDeps } from './deps.ts'
import * as repository from './repository.ts'
import { enabledEventsOf } from './repository.ts'
import { requireAutomation, listAutomations } from './queries.ts'
import { cancelWaitingOf, type Cancellation } from './runs/cancellation.ts'
import { simulate } from './simulation.ts'
import { findSource, lockSource, raiseConfigVersion } from './sources/repository.ts'
import { checkAutomation, fieldsOf } from './validation.ts'
import type { StoreAnswer } from '../../platform/http/route.ts'
import { type Db, transact, type Transaction } from '../../platform/database/sql.ts'

export type AutomationService = ReturnType<typeof automationService>

export function automationService(deps: AutomationDeps) {
  const changes = new InOrder()
  return {
    create: (sql: Db, caller: Caller, body: AutomationCreation, keep: StoreAnswer<Automation>): Promise<Automation> =>
      createAutomation(deps, sql, caller, body, keep),
    list: listAutomations,
    get: async (sql: Db, tenant: Tenant, id: string): Promise<Automation> =>
      automationObject(await requireAutomation(sql, tenant, id)),
    /** Cancels waiting runs if the automation is paused, or its event type or channel type changes. */
    update: (sql: Db, tenant: Tenant, id: string, body: AutomationUpdate): Promise<Automation> =>
      changes.run(id, () => updateAutomation(deps, sql, tenant, id, body)),
    remove: (sql: Db, tenant: Tenant, id: string): Promise<void> => removeAutomation(deps, sql, tenant, id),
    simulate: (sql: Db, tenant: Tenant, id: string, body: AutomationSimulationRequest): Promise<AutomationSimulation> =>
      simulate(deps, sql, tenant, id, body),
  }
}

async function createAutomation(
  deps: AutomationDeps,
  sql: Db,
  caller: Caller,
  body: AutomationCreation,
  keep: StoreAnswer<Automation>,
): Promise<Automation> {
  const { ids, clock } = deps.platform
  const { account_id, mode } = caller
  // no transaction is open: the provider may be asked for a template
  const fields = await checkAutomation(deps, sql, caller, body, null)
  if (!isId('src', body.source_id) || (await findSource(sql, caller, body.source_id)) === null)
    throw missing('integration source', body.source_id, 'source_id')
  const at = isoTime(clock.now())
  const row: AutomationRow = {
    account_id,
    mode,
    id: ids('aut'),
    source_id: body.source_id,
    ...fields,
    created_at: at,
    updated_at: at,
  }
  return await transact(sql, async (tx) => {
    await requireChannel(deps, tx, row)
    return await changeAutomations(tx, caller, row.source_id, async () => {
      if ((await repository.countAutomations(tx, caller, row.source_id)) >= automationLimits.per_source_max)
        throw tooMany(row.source_id)
      await repository.insertAutomation(tx, row)
      const shown = automationObject(row)
      await keep(tx, shown)
      return shown
    })
  })
}

/** Locked before the source, in the same order as a channel's deletion. */
async function requireChannel({ channels }: AutomationDeps, tx: Transaction, row: AutomationRow): Promise<void> {
  if (row.status === 'active') await channels.requireExisting(tx, row, row.channel_id, 'channel_id')
}

const tooMany = (source_id: string): Problem =>
  new Problem(
    'automation_limit_reached',
    `The integration source ${source_id} has ${automationLimits.per_source_max} automations, which is the limit. Delete one that is no longer used.`,
  )

const updateAttemptsMax = 5

async function updateAutomation(
  deps: AutomationDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  body: AutomationUpdate,
): Promise<Automation> {
  for (let attempt = 1; ; attempt++) {
    const found = await requireAutomation(sql, tenant, id)
    const after: AutomationRow = { ...found, ...(await checkAutomation(deps, sql, tenant, body, fieldsOf(found))) }
    const cancellation = cancellationOf(found, after)
    await cancellation?.before(sql)
    const shown = await transact(sql, (tx) => writeUnchanged(deps, tx, found, after, cancellation))
    if (shown !== null) return shown
    if (attempt === updateAttemptsMax)
      throw new Problem(
        'upstream_unavailable',
        `The automation ${id} is being changed by others faster than it can be checked. Nothing was changed: try again.`,
      )
  }
}

function cancellationOf(before: AutomationRow, after: AutomationRow): Cancellation | null {
  const of = { source_id: after.source_id, automation_id: after.id }
  if (before.status !== after.status) return cancelWaitingOf(after, of, 'automation_paused')
  return before.event_type !== after.event_type || before.channel_type !== after.channel_type
    ? cancelWaitingOf(after, of, 'automation_changed')
    : null
}

/** null if the automation has changed since it was read. */
async function writeUnchanged(
  deps: AutomationDeps,
  tx: Transaction,
  found: AutomationRow,
  after: AutomationRow,
  cancellation: Cancellation | null,
): Promise<Automation | null> {
  if (found.channel_id !== after.channel_id || found.status !== after.status) await requireChannel(deps, tx, after)
  return await changeAutomations(tx, found, found.source_id, async () => {
    const before = await repository.lockAutomation(tx, found, found.id)
    if (before === null) throw missing('automation', found.id)
    if (!isDeepStrictEqual(before, found)) return null
    if (isDeepStrictEqual(before, after)) return automationObject(before)
    const row: AutomationRow = { ...after, updated_at: isoTime(deps.platform.clock.now()) }
    await repository.updateAutomation(tx, row)
    await cancellation?.within(tx)
    return automationObject(row)
  })
}

async function removeAutomation({ platform }: AutomationDeps, sql: Db, tenant: Tenant, id: string): Promise<void> {
  const { source_id } = await requireAutomation(sql, tenant, id)
  const cancellation = cancelWaitingOf(tenant, { source_id, automation_id: id }, 'automation_deleted')
  await cancellation.before(sql)
  await transact(sql, (tx) =>
    changeAutomations(tx, tenant, source_id, async () => {
      if ((await repository.lockAutomation(tx, tenant, id)) === null) throw missing('automation', id)
      await repository.deleteAutomation(tx, tenant, id, isoTime(platform.clock.now()))
      await cancellation.within(tx)
    }),
  )
}

/**
 * Locks the source, so that no event is accepted meanwhile. Raises its configuration version if `enabled_events` or
 * `event_settings` change (behaviour: integrations 1.4, 1.5).
 */
async function changeAutomations<T>(
  tx: Transaction,
  tenant: Tenant,
  source_id: string,
  change: () => Promise<T>,
): Promise<T> {
  if (!isId('src', source_id) || (await lockSource(tx, tenant, source_id)) === null)
    throw missing('integration source', source_id, 'source_id')
  return await changeOfLocked(tx, tenant, source_id, change)
}

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
