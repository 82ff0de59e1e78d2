/** Events reported by sources, and the receipt in the response (behaviour: integrations 3). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { RunOfEvent } from './automation-run.ts'
import { AnyObject, NullableString, Timestamp } from './nullable.ts'

/** Besides these, `custom.<name>` is allowed. */
export const automationEventTypes = [
  'order.created',
  'order.paid',
  'order.payment_failed',
  'order.processing',
  'order.on_hold',
  'order.shipped',
  'order.out_for_delivery',
  'order.delivered',
  'order.completed',
  'order.cancelled',
  'order.refunded',
  'checkout.started',
  'cart.updated',
  'cart.abandoned',
  'customer.created',
  'customer.updated',
  'form.submitted',
  'booking.created',
  'booking.updated',
  'booking.cancelled',
  'booking.reminder',
  'subscription.renewed',
] as const

export const isAutomationEventType = (text: string): boolean =>
  (automationEventTypes as readonly string[]).includes(text) || /^custom\.[A-Za-z0-9_.-]{1,80}$/.test(text)

export const receiptStatuses = ['accepted', 'ignored', 'skipped', 'duplicate', 'failed'] as const
export type ReceiptStatus = (typeof receiptStatuses)[number]
export const receiptReasons = [
  'no_automation',
  'unmapped_topic',
  'no_identifier',
  'consent_missing',
  'unsubscribed',
  'condition_not_met',
] as const
export type ReceiptReason = (typeof receiptReasons)[number]
const reportOrigins = ['api', 'native_webhook'] as const
export type ReportOrigin = (typeof reportOrigins)[number]

/** Lengths count Unicode code points. */
export const automationEventLimits = { body_bytes: 256 * 1024, event_id_length_max: 255, tags_max: 100 } as const

const text = (maxLength: number, more: object = {}) => Type.Optional(NullableString({ maxLength, ...more }))

export const EventCustomer = Type.Object(
  {
    external_id: text(255, { description: "The platform's id of the customer." }),
    phone: text(64, {
      description:
        'With country code, such as +4915112345678; spaces, dots, dashes and brackets are allowed. Without a valid number no message can be sent.',
    }),
    email: text(320, { description: 'Stored with the contact; no messages are sent to it.' }),
    first_name: text(255, { description: 'Given name; the merge tag `{{first_name}}`.' }),
    last_name: text(255, { description: 'Family name; the merge tag `{{last_name}}`.' }),
    locale: text(64, { description: 'Such as `de` or `de-AT`.' }),
    tags: Type.Optional(
      Type.Unsafe<string[] | null>({
        type: ['array', 'null'],
        items: { type: 'string', maxLength: 255 },
        maxItems: automationEventLimits.tags_max,
        description: 'Labels of the customer, for conditions on `customer.tags`.',
      }),
    ),
    attributes: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'Other data about the customer, for conditions on `customer.attributes.<path>`.',
      }),
    ),
  },
  { additionalProperties: true, description: 'The customer of the event.' },
)
export type EventCustomer = Static<typeof EventCustomer>

const agreed = (description: string) =>
  Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description }))

const EventConsent = Type.Object(
  {
    transactional: agreed('Consent to messages about purchases, bookings and requests of the customer.'),
    marketing: agreed('To advertising.'),
  },
  { additionalProperties: true, description: 'Consents of the customer that the source knows.' },
)
type EventConsent = Static<typeof EventConsent>

/** Without `source`, for simulations and native webhooks of `custom`. */
export const ReportedEvent = Type.Object({
  type: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'One of the catalogue, or `custom.<name>`.',
    examples: ['order.paid'],
  }),
  event_id: Type.String({
    minLength: 1,
    maxLength: automationEventLimits.event_id_length_max,
    description: "The source's own id of the event: the same one again is a duplicate, and nothing runs twice.",
    examples: ['wc-1001-paid'],
  }),
  occurred_at: Type.Optional(NullableString({ format: 'date-time', description: 'Default: now.' })),
  customer: Type.Optional(Type.Unsafe<EventCustomer | null>({ ...EventCustomer, type: ['object', 'null'] })),
  consent: Type.Optional(Type.Unsafe<EventConsent | null>({ ...EventConsent, type: ['object', 'null'] })),
  data: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description:
        'Data of the event, such as `{ "order": { … } }`; conditions and merge tags read it as `data.<path>`.',
    }),
  ),
})
export type ReportedEvent = Static<typeof ReportedEvent>

export const EventReport = Type.Object({
  source: Type.String({ minLength: 1, description: 'The integration source (`src_`).' }),
  ...ReportedEvent.properties,
})

export const AutomationEvent = Type.Object(
  {
    id: Type.String({ description: 'Prefix `aev_`.' }),
    object: objectName('automation_event'),
    mode: Mode,
    source_id: Type.String({ description: 'The integration source (`src_`) that reported it.' }),
    type: Type.String({
      description: 'As reported; `<platform>.<topic>` for a native webhook whose topic is no known event.',
      examples: ['order.shipped'],
    }),
    event_id: Type.String({ description: "The source's own id of the event.", examples: ['wc-1001-shipped'] }),
    origin: Type.Unsafe<ReportOrigin>({
      type: 'string',
      enum: [...reportOrigins],
      description: 'How it was received: by `POST /v1/automation_events`, or as a native webhook of the platform.',
    }),
    status: Type.Unsafe<ReceiptStatus>({
      type: 'string',
      enum: [...receiptStatuses],
      description:
        '`accepted`: at least one automation runs. `ignored`: none is for it. `skipped`: those that are do nothing about it. `failed`: it could not be looked at. ' +
        '`duplicate` is only ever answered to who reports an event again.',
    }),
    reason: Type.Unsafe<ReceiptReason | null>({
      type: ['string', 'null'],
      enum: [...receiptReasons, null],
      description: 'Why nothing runs; null where something does.',
      examples: [null],
    }),
    contact_id: NullableString({ description: 'The contact that the customer is.' }),
    runs: Type.Array(RunOfEvent, { description: 'One for each automation that is for the event.' }),
    data: AnyObject({ description: 'As it was reported.', examples: [{ order: { number: '1001' } }] }),
    occurred_at: Timestamp(),
    created_at: Timestamp(),
  },
  { $id: 'AutomationEvent', description: 'The receipt of an event.' },
)
export type AutomationEvent = Static<typeof AutomationEvent>
