/** Runs: what an automation does about one event (behaviour: integrations 6). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { NullableString, Timestamp } from './nullable.ts'

export const runStatuses = ['scheduled', 'sent', 'skipped', 'cancelled', 'failed'] as const
export type RunStatus = (typeof runStatuses)[number]

const fields = {
  id: Type.String({ description: 'Prefix `run_`.', examples: ['run_01m7z10y8texgrjk0p9bvk2cq6'] }),
  automation_id: Type.String(),
  status: Type.Unsafe<RunStatus>({
    type: 'string',
    enum: [...runStatuses],
    description: '`sent`: its message was accepted, and tells the rest itself.',
    examples: ['sent'],
  }),
  scheduled_for: Timestamp(),
  message_id: NullableString(),
  reason: NullableString({ description: 'Why it was skipped or cancelled, or failed.' }),
}

/** As a receipt lists it. */
export const RunOfEvent = Type.Object(fields)
export type RunOfEvent = Static<typeof RunOfEvent>

export const AutomationRun = Type.Object(
  {
    ...fields,
    object: objectName('automation_run'),
    mode: Mode,
    source_id: Type.String(),
    automation_event_id: Type.String(),
    contact_id: NullableString(),
    created_at: Timestamp(),
  },
  { $id: 'AutomationRun', description: 'What an automation does about one event.' },
)
export type AutomationRun = Static<typeof AutomationRun>
