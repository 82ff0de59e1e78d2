/** Validates automations and reports all errors at once (behaviour: integrations 5.1, 5.2, 5.5). */
import type { Tenant } from '../../api/caller.ts'
import type { Detail } from '../../api/errors.ts'
import { throwFailures } from '../../api/problem.ts'
import { automationEventTypes, isAutomationEventType } from '../../api/resources/automation-event.ts'
import type { AutomationUpdate } from '../../api/resources/automation.ts'
import { conditionsFailures } from './conditions.ts'
import { customerTexts, readPath } from './event-paths.ts'
import type { AutomationRow } from './automation.ts'
import type { ChannelService } from '../channels/service.ts'
import type { ContactService } from '../contacts/service.ts'
import { contactTagNames, typeAndContent, messageFailures, requireTemplate, tooLarge } from '../messages/service.ts'
import type { Db } from '../../platform/database/sql.ts'

export interface SavingDeps {
  readonly channels: ChannelService
  readonly contacts: ContactService
}

export type AutomationFields = Omit<
  AutomationRow,
  'account_id' | 'mode' | 'id' | 'source_id' | 'created_at' | 'updated_at'
>

export const automationFailures = ({ name, event_type, cancel_on, conditions }: AutomationUpdate): Detail[] => [
  ...(typeof name === 'string' && name.trim() === ''
    ? [{ param: 'name', code: 'too_short' as const, message: '`name` must not be empty.' }]
    : []),
  ...(typeof event_type === 'string' ? typeFailures('event_type', event_type) : []),
  ...(Array.isArray(cancel_on)
    ? cancel_on.flatMap((type, i) => (typeof type === 'string' ? typeFailures(`cancel_on[${i}]`, type) : []))
    : []),
  ...(typeof conditions === 'object' && conditions !== null ? conditionsFailures(conditions) : []),
]

function typeFailures(param: string, type: string): Detail[] {
  if (isAutomationEventType(type)) return []
  const message = `\`${param}\` is no event type. Use one of ${automationEventTypes.join(', ')}, or \`custom.\` and a name of your own.`
  return [{ param, code: 'invalid_value', message }]
}

export const fieldsOf = ({
  account_id: _account,
  mode: _mode,
  id: _id,
  source_id: _source,
  created_at: _created,
  updated_at: _updated,
  ...fields
}: AutomationRow): AutomationFields => fields

const defaults = {
  status: 'active',
  conditions: null,
  delay_seconds: 0,
  cancel_on: [],
  category: 'transactional',
  merge_fallbacks: {},
} as const satisfies Partial<AutomationFields>

/**
 * Validates the message only if it, its fallbacks or channel change, or the automation becomes active. Throws the
 * Problem that refuses the body.
 */
export async function checkAutomation(
  deps: SavingDeps,
  sql: Db,
  tenant: Tenant,
  body: AutomationUpdate,
  before: AutomationFields | null,
): Promise<AutomationFields> {
  const failures = automationFailures(body)
  const { channel_id, message, merge_fallbacks } = body
  const fields = { ...defaults, ...before, ...storedFields(body) } as AutomationFields
  const becomesActive = fields.status === 'active' && before?.status !== 'active'
  if (
    before !== null &&
    channel_id === undefined &&
    message === undefined &&
    merge_fallbacks === undefined &&
    !becomesActive
  ) {
    throwFailures(failures)
    return fields
  }
  const channel = await deps.channels.find(tenant, fields.channel_id)
  if (channel === null) {
    throwFailures(failures)
    throw await deps.channels.missing(sql, tenant, fields.channel_id, 'channel_id')
  }
  const large = tooLarge(fields.message, fields.merge_fallbacks)
  throwFailures(large.length > 0 ? [...failures, ...large] : [])
  const requested = {
    channel,
    message: fields.message,
    merge_fallbacks: fields.merge_fallbacks,
    isOwnTag: isEventTag,
    tagHint: eventTagHint,
    sender: 'automation',
  } as const
  const ofMessage = await messageFailures(deps, sql, tenant, requested).catch((unsupported: unknown) => {
    throwFailures(failures)
    throw unsupported
  })
  throwFailures([...failures, ...ofMessage])
  await requireTemplate(deps, channel, fields.message)
  return { ...fields, channel_type: channel.type }
}

function storedFields({
  name,
  event_type,
  status,
  conditions,
  delay_seconds,
  cancel_on,
  channel_id,
  category,
  message,
  merge_fallbacks,
}: AutomationUpdate) {
  return {
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(event_type === undefined ? {} : { event_type }),
    ...(status === undefined ? {} : { status }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(delay_seconds === undefined ? {} : { delay_seconds }),
    ...(cancel_on === undefined ? {} : { cancel_on: [...new Set(cancel_on)] }),
    ...(channel_id === undefined ? {} : { channel_id }),
    ...(category === undefined ? {} : { category }),
    ...(message === undefined ? {} : { message: typeAndContent(message) }),
    ...(merge_fallbacks === undefined ? {} : { merge_fallbacks: { ...merge_fallbacks } }),
  }
}

/** `{{data.<path>}}` and `{{customer.<field>}}` (behaviour: integrations 5.2). */
const isEventTag = (name: string): boolean =>
  customerTexts.some((key) => name === `customer.${key}`) ||
  readPath(name, 'data') !== null ||
  readPath(name, 'customer.attributes') !== null

const eventTagHint = `names nothing that is known of the event or of the contact. Use {{data.<path>}}, {{customer.<field>}}, ${contactTagNames}.`
