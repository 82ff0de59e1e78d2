/** Automations: rules that send a message after an event of a source (behaviour: integrations 5). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { automationEventLimits, ReportedEvent } from './automation-event.ts'
import { runStatuses, type RunStatus } from './automation-run.ts'
import { AnyObject, NullableObject, NullableString, NullableTimestamp, Timestamp } from './nullable.ts'
import { NullableRules } from './rules.ts'

export const automationStatuses = ['active', 'paused'] as const
export type AutomationStatus = (typeof automationStatuses)[number]
const automationCategories = ['transactional', 'marketing'] as const
export type AutomationCategory = (typeof automationCategories)[number]

/** Lengths count Unicode code points. */
export const automationLimits = {
  name_length_max: 120,
  delay_seconds_max: 30 * 24 * 3600,
  cancel_on_max: 20,
  per_source_max: 100,
} as const

type AutomationMessage = { readonly type: string } & Readonly<Record<string, unknown>>

const conditions = {
  description:
    'Rules as a segment has them, over the event: {`match` `all`|`any`, `conditions`} of {`field`, `operator`, `value`}. Fields: `data.<path>`, such as `data.order.total` or ' +
    '`data.order.items[0].name`, `customer.external_id`, `.phone`, `.email`, `.first_name`, `.last_name`, `.locale`, `.tags` and `customer.attributes.<path>`. A text in digits, such as ' +
    '`"59.99"`, compares with a number as a number. null: every event of the type.',
  examples: [{ match: 'all', conditions: [{ field: 'data.order.total', operator: 'greater_than', value: 50 }] }],
}
const message = {
  description:
    '`type` and the content object under the key named by it. Every string of it may hold the merge tags of a campaign, `{{data.<path>}}` and `{{customer.<field>}}`.',
  examples: [{ type: 'text', text: { body: 'Hello {{first_name}}, your order {{data.order.number}} is on its way.' } }],
}
const cancelOn = {
  description: 'Event types that cancel waiting runs of the same customer.',
  examples: [['order.paid']],
}
const fallbacks = {
  additionalProperties: { type: 'string' },
  description: 'Merge tag name, without braces, to the text that replaces a missing value.',
  examples: [{ first_name: 'friend', 'data.order.url': 'https://shop.example.com' }],
}

export const Automation = Type.Object(
  {
    id: Type.String({ description: 'Prefix `aut_`.' }),
    object: objectName('automation'),
    mode: Mode,
    name: Type.String({ description: 'For people: 1 to 120 characters.' }),
    source_id: Type.String({ description: 'The integration source (`src_`) whose events trigger it.' }),
    event_type: Type.String({ description: 'The type of event that it waits for.', examples: ['order.shipped'] }),
    status: Type.Unsafe<AutomationStatus>({
      type: 'string',
      enum: [...automationStatuses],
      description: '`paused`: nothing follows an event.',
    }),
    conditions: NullableRules(conditions),
    delay_seconds: Type.Integer({ description: 'How long after the event it is sent.' }),
    cancel_on: Type.Array(Type.String(), cancelOn),
    channel_id: Type.String({ description: 'The channel (`ch_`) that its message is sent on.' }),
    category: Type.Unsafe<AutomationCategory>({
      type: 'string',
      enum: [...automationCategories],
      description: '`marketing` is sent only to customers who agreed to advertising.',
    }),
    message: AnyObject({ ...message, $id: 'AutomationMessage' }),
    merge_fallbacks: Type.Unsafe<Record<string, string>>({ type: 'object', ...fallbacks }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { $id: 'Automation', description: 'Which message follows which event of a source.' },
)
export type Automation = Static<typeof Automation>

const Message = Type.Unsafe<AutomationMessage>(
  Type.Object(
    { type: Type.String({ description: "One of the channel's capabilities." }) },
    { ...message, $id: 'AutomationMessage', additionalProperties: true },
  ),
)
const name = Type.String({
  minLength: 1,
  maxLength: automationLimits.name_length_max,
  description: 'For people; need not be unique.',
})
const eventType = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'A type of the catalogue, or `custom.<name>` with a name of your own.',
  examples: ['order.shipped'],
})
const channelId = Type.String({
  minLength: 1,
  description: 'The channel that it is sent on (`ch_`); with a test key a sandbox channel such as `ch_test_whatsapp`.',
})

const optional = {
  status: Type.Optional(
    Type.Unsafe<AutomationStatus>({
      type: 'string',
      enum: [...automationStatuses],
      description: '`active` where it is new.',
    }),
  ),
  conditions: Type.Optional(NullableRules(conditions)),
  delay_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: automationLimits.delay_seconds_max,
      description: 'How long after the event it is sent: up to 30 days. 0 where it is new.',
    }),
  ),
  cancel_on: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', minLength: 1, maxLength: 100 },
      maxItems: automationLimits.cancel_on_max,
      ...cancelOn,
    }),
  ),
  category: Type.Optional(
    Type.Unsafe<AutomationCategory>({
      type: 'string',
      enum: [...automationCategories],
      description: '`marketing` is sent only to customers who agreed to advertising. `transactional` where it is new.',
    }),
  ),
  merge_fallbacks: Type.Optional(
    Type.Unsafe<Record<string, string> | null>({ type: ['object', 'null'], ...fallbacks }),
  ),
}

export const AutomationCreation = Type.Object(
  {
    name,
    source_id: Type.String({ minLength: 1, description: 'The integration source (`src_`).' }),
    event_type: eventType,
    channel_id: channelId,
    message: Message,
    ...optional,
  },
  { $id: 'AutomationCreation', description: 'A new automation.' },
)
export type AutomationCreation = Static<typeof AutomationCreation>

export const AutomationUpdate = Type.Object(
  {
    name: Type.Optional(name),
    event_type: Type.Optional(eventType),
    channel_id: Type.Optional(channelId),
    message: Type.Optional(Message),
    ...optional,
  },
  {
    $id: 'AutomationUpdate',
    description: 'Absent fields stay; objects and arrays are replaced whole.',
    examples: [{ status: 'paused' }],
  },
)
export type AutomationUpdate = Static<typeof AutomationUpdate>

export const SimulatedEvent = Type.Object({
  ...ReportedEvent.properties,
  event_id: Type.Optional(
    NullableString({
      minLength: 1,
      maxLength: automationEventLimits.event_id_length_max,
      description: 'Has no effect.',
    }),
  ),
})

/** The service checks that there is exactly one. */
export const AutomationSimulationRequest = Type.Object(
  {
    automation_event_id: Type.Optional(
      NullableString({ description: 'A receipt (`aev_`): its event, as if it were reported now.' }),
    ),
    event: Type.Optional(
      Type.Unsafe<Static<typeof SimulatedEvent> | null>({
        ...SimulatedEvent,
        type: ['object', 'null'],
        description: 'An invented event in the form of `POST /v1/automation_events`, without `source`.',
      }),
    ),
  },
  {
    $id: 'AutomationSimulationRequest',
    description: 'Either of the two.',
    examples: [
      {
        event: {
          type: 'order.shipped',
          customer: { phone: '+4915112345678', first_name: 'Ada' },
          data: { order: { number: '1001', total: '59.99' } },
        },
      },
    ],
  },
)
export type AutomationSimulationRequest = Static<typeof AutomationSimulationRequest>

export const AutomationSimulation = Type.Object(
  {
    object: objectName('automation_simulation'),
    status: Type.Unsafe<RunStatus>({
      type: 'string',
      enum: [...runStatuses],
      description:
        'That of the run there would be: `scheduled`, or `skipped`, `cancelled` or `failed` where no message would come of it.',
    }),
    reason: NullableString({
      description:
        'As a run has it, or `no_automation` of an event that is not for this one; of a `scheduled` one what holds it up at this moment.',
    }),
    conditions: Type.Array(
      Type.Object({
        field: Type.String({ description: 'As the condition names it.' }),
        met: Type.Boolean({ description: 'Whether the event fits it.' }),
      }),
      {
        description: 'Each condition by itself, in the order in which they are written.',
      },
    ),
    scheduled_for: NullableTimestamp({ description: 'When it would be sent; null where nothing is tried.' }),
    message: NullableObject({ description: 'As it would be sent; null where none would be.' }),
    cancel_on: Type.Array(Type.String(), {
      description: 'Event types of the same customer that would cancel it until then.',
    }),
  },
  {
    $id: 'AutomationSimulation',
    description: 'The result of a simulation. Nothing is stored or sent.',
  },
)
export type AutomationSimulation = Static<typeof AutomationSimulation>
