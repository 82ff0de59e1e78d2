/** Loads the data of due runs, one query per kind. */
import { tenantOf } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import type { AutomationDeps } from '../deps.ts'
import {
  type DueRun,
  findAutomationsOfRuns,
  findEventsOfRuns,
  type RunAutomation,
  type RunEvent,
} from './due-repository.ts'
import { dataKeysOf } from './rendering.ts'
import {
  addressKeyOf,
  type ContactRow,
  findEligibility,
  hasStopped,
  marketingType,
  suppressionHash,
} from '../../contacts/service.ts'

/** undefined: deleted meanwhile. */
export interface RunContext {
  readonly run: DueRun
  readonly automation: RunAutomation | undefined
  readonly event: RunEvent | undefined
  readonly contact: ContactRow | undefined
  readonly stopped: boolean
}

export async function loadContexts(deps: AutomationDeps, runs: readonly DueRun[]): Promise<RunContext[]> {
  const { pool } = deps.platform
  const automations = new Map(
    (await findAutomationsOfRuns(pool, [...new Set(runs.map(({ automation_id }) => automation_id))])).map((row) => [
      row.id,
      row,
    ]),
  )
  const keys = new Map([...automations].map(([id, { message }]) => [id, dataKeysOf(message)]))
  const [events, contacts, stopped] = await Promise.all([
    findEventsOfRuns(
      pool,
      runs.map(({ automation_event_id, automation_id }) => ({
        id: automation_event_id,
        keys: keys.get(automation_id) ?? [],
      })),
    ),
    contactsOf(deps, runs),
    optedOutOfMarketing(deps, runs, automations),
  ])
  const byId = new Map(events.map((event) => [event.id, event]))
  return runs.map((run) => ({
    run,
    automation: automations.get(run.automation_id),
    event: byId.get(run.automation_event_id),
    contact: run.contact_id === null ? undefined : contacts.get(run.contact_id),
    stopped: stopped.has(run.id) || hasOptedOut(run, automations.get(run.automation_id), contacts),
  }))
}

/** The check at acceptance knows only the contact's number, which may have changed. */
function hasOptedOut(
  run: DueRun,
  automation: RunAutomation | undefined,
  contacts: ReadonlyMap<string, ContactRow>,
): boolean {
  const contact = contacts.get(run.contact_id ?? '')
  return contact !== undefined && hasStopped(contact, run.channel_type, automation?.category === 'marketing')
}

async function contactsOf(
  { platform, contacts }: AutomationDeps,
  runs: readonly DueRun[],
): Promise<Map<string, ContactRow>> {
  const known = new Map<string, ContactRow>()
  for (const some of Map.groupBy(runs, ({ account_id, mode }) => `${account_id} ${mode}`).values()) {
    const ids = new Set(some.flatMap(({ contact_id }) => (contact_id === null ? [] : [contact_id])))
    for (const row of ids.size === 0 ? [] : await contacts.findByIds(platform.pool, tenantOf(some[0]!), [...ids]))
      known.set(row.id, row)
  }
  return known
}

async function optedOutOfMarketing(
  { platform: { pool, secrets, clock } }: AutomationDeps,
  runs: readonly DueRun[],
  automations: ReadonlyMap<string, RunAutomation>,
): Promise<Set<string>> {
  const marketing = runs.flatMap((run) => {
    const automation = automations.get(run.automation_id)
    return automation?.category !== 'marketing' || run.to === null ? [] : [{ run, to: run.to, ...automation }]
  })
  const requested = marketing.map(({ account_id, mode, channel_id, channel_type: type, to }) => {
    const channel_type = marketingType(type)
    const { kind, address } = addressKeyOf(type, to)
    return {
      account_id,
      mode,
      channel_id,
      channel_type,
      kind,
      address,
      suppression: suppressionHash(secrets, { account_id, mode }, channel_type, address),
      windowed: false,
    }
  })
  const found = await findEligibility(pool, requested, isoTime(clock.now()))
  return new Set(marketing.flatMap(({ run }, i) => (found[i]!.verdict === 'recipient_blocked' ? [run.id] : [])))
}
