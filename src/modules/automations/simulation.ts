/**
 * Simulates an automation with the code of real events (behaviour: integrations 5.8, 5.9). Nothing is stored or sent.
 */
import type { Tenant } from '../../api/caller.ts'
import { isId } from '../../api/ids.ts'
import { invalid, missing } from '../../api/problem.ts'
import { isAutomationEventType } from '../../api/resources/automation-event.ts'
import type { AutomationSimulation, AutomationSimulationRequest } from '../../api/resources/automation.ts'
import { isoTime } from '../../lib/clock.ts'
import { requireAutomation } from './queries.ts'
import { conditionResults } from './conditions.ts'
import type { AutomationDeps } from './deps.ts'
import { expectedContact } from './events/contact-sync.ts'
import { eventContent, type EventContent } from '../../sources/event.ts'
import { matchOne } from './events/matching.ts'
import { findReceipt } from './events/repository.ts'
import type { AutomationRow } from './automation.ts'
import { decide, type Decision } from './runs/decision.ts'
import { type MergeSource, renderedFor } from './runs/rendering.ts'
import { findSource } from './sources/repository.ts'
import type { SourceRow } from './sources/source.ts'
import type { Db } from '../../platform/database/sql.ts'

interface SimulatedEvent {
  readonly source_id: string
  readonly content: EventContent
}

/** A paused automation is simulated as if it were active. */
export async function simulate(
  deps: AutomationDeps,
  sql: Db,
  tenant: Tenant,
  id: string,
  body: AutomationSimulationRequest,
): Promise<AutomationSimulation> {
  const automation = await requireAutomation(sql, tenant, id)
  const now = deps.platform.clock.now()
  const { source_id, content } = await simulatedEvent(sql, automation, body, now)
  const source = await findSource(sql, tenant, automation.source_id)
  if (source === null) throw missing('automation', id)
  if (source_id !== source.id || content.type !== automation.event_type)
    return {
      ...empty,
      status: 'skipped',
      reason: 'no_automation',
      conditions: [],
      cancel_on: [...automation.cancel_on],
    }
  const outcome = await outcomeOf(deps, sql, source, automation, content, now)
  return {
    ...empty,
    ...outcome,
    conditions: conditionResults(automation.conditions, content, now),
    cancel_on: [...automation.cancel_on],
  }
}

const empty = { object: 'automation_simulation', scheduled_for: null, message: null } as const

async function simulatedEvent(
  sql: Db,
  automation: AutomationRow,
  { automation_event_id, event }: AutomationSimulationRequest,
  now: number,
): Promise<SimulatedEvent> {
  const receipt_id = automation_event_id ?? null
  const reported = event ?? null
  if (receipt_id === null && reported === null)
    throw invalid('event', 'missing_field', 'Give `event`, or `automation_event_id` of a receipt.')
  if (receipt_id !== null && reported !== null)
    throw invalid(
      'automation_event_id',
      'invalid_value',
      'Give `event` or `automation_event_id`, not both: either is the event that is simulated.',
    )
  if (reported !== null) {
    if (!isAutomationEventType(reported.type))
      throw invalid(
        'event.type',
        'invalid_value',
        `${JSON.stringify(reported.type)} is no type of event, such as order.paid, or custom.<name>.`,
      )
    return {
      source_id: automation.source_id,
      content: eventContent({ ...reported, event_id: reported.event_id ?? '' }, now),
    }
  }
  const receipt = isId('aev', receipt_id) ? await findReceipt(sql, automation, receipt_id) : null
  if (receipt === null) throw missing('automation event', receipt_id ?? '', 'automation_event_id')
  return { source_id: receipt.source_id, content: receipt }
}

type Outcome = Partial<Pick<AutomationSimulation, 'scheduled_for' | 'message'>> &
  Pick<AutomationSimulation, 'status' | 'reason'>

function outcomeOfDecision(
  decision: Decision,
  automation: AutomationRow,
  event: MergeSource,
  scheduled_for: string,
): Outcome {
  switch (decision.kind) {
    case 'end':
      return {
        status: decision.endFound.status,
        reason: decision.endFound.reason,
        scheduled_for: decision.endFound.status === 'skipped' ? null : scheduled_for,
      }
    case 'later':
      return {
        status: 'scheduled',
        reason: decision.code,
        scheduled_for,
        message: decision.code === 'internal_error' ? null : renderedFor(automation, event),
      }
    case 'send':
      return {
        status: 'scheduled',
        reason: null,
        scheduled_for,
        message: { type: decision.message.type, [decision.message.type]: decision.message.content },
      }
  }
}

async function outcomeOf(
  deps: AutomationDeps,
  sql: Db,
  source: SourceRow,
  automation: AutomationRow,
  content: EventContent,
  now: number,
): Promise<Outcome> {
  const at = isoTime(now)
  const pending = {
    event: { ...content, source, origin: 'api' },
    id: deps.platform.ids('aev'),
    at,
    data_json: JSON.stringify(content.data),
    before_commit: undefined,
  } as const
  const contact = await expectedContact(deps.contacts, sql, pending, source)
  const { status, reason, scheduled_for, to } = await matchOne(deps.platform, sql, pending, automation, source, contact)
  if (status === 'skipped') return { status, reason }
  const { account_id, mode } = automation
  const run = {
    account_id,
    mode,
    id: deps.platform.ids('run'),
    source_id: source.id,
    automation_id: automation.id,
    automation_event_id: pending.id,
    contact_id: contact?.id ?? null,
    to,
    event_type: automation.event_type,
    channel_type: automation.channel_type,
    failures: 0,
    scheduled_for,
    created_at: scheduled_for,
    claimed_until: scheduled_for,
  }
  const event = { id: pending.id, customer: content.customer, data: content.data }
  const decision = await decide(
    deps,
    { run, automation: { ...automation, stopped: null, reinstated_at: null }, event, contact, stopped: false },
    'normal',
  )
  return outcomeOfDecision(decision, automation, { ...event, contact }, scheduled_for)
}
