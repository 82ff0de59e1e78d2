/** Runs: the execution of an automation for one event (behaviour: integrations 6). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { NullableString, Timestamp } from './nullable.ts'

export const runStatuses = ['scheduled', 'sent', 'skipped', 'cancelled', 'failed'] as const
export type RunStatus = (typeof runStatuses)[number]

const fields = {
  id: Type.String({ description: 'Prefix `run_`.', examples: ['run_01m7z10y8texgrjk0p9bvk2cq6'] }),
  automation_id: Type.String({ description: 'The automation (`aut_`) that runs.' }),
  status: Type.Unsafe<RunStatus>({
    type: 'string',
    enum: [...runStatuses],
    description: '`sent`: its message was accepted; see the message for its status.',
    examples: ['sent'],
  }),
  scheduled_for: Timestamp({ description: 'When its message will be sent, ISO 8601, UTC, with milliseconds.' }),
  message_id: NullableString({
    description: 'The message (`msg_`) that was accepted; null where none was, or not yet.',
  }),
  reason: NullableString({ description: 'Why it was skipped or cancelled, or failed.' }),
}

export const RunOfEvent = Type.Object(fields)
export type RunOfEvent = Static<typeof RunOfEvent>

export const AutomationRun = Type.Object(
  {
    ...fields,
    object: objectName('automation_run'),
    mode: Mode,
    source_id: Type.String({ description: 'The integration source (`src_`) that reported the event.' }),
    automation_event_id: Type.String({ description: 'The receipt (`aev_`) of the event that it follows.' }),
    contact_id: NullableString({ description: 'The contact (`ct_`) that the customer is; null where there is none.' }),
    created_at: Timestamp(),
  },
  { $id: 'AutomationRun', description: 'The execution of an automation for one event.' },
)
export type AutomationRun = Static<typeof AutomationRun>
