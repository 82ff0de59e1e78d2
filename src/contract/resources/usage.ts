/** A usage record: what the messages of a period came to (decisions 8). */
import { Type, type Static } from 'typebox'

export const usageGroups = ['day', 'month', 'channel_type', 'channel'] as const
export type UsageGroup = (typeof usageGroups)[number]

const nullableText = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

export const UsageRecord = Type.Object(
  {
    object: Type.Literal('usage_record'),
    period_start: Type.String({ format: 'date-time', description: 'Start of the period, inclusive: midnight UTC.' }),
    period_end: Type.String({ format: 'date-time', description: 'End of the period, exclusive: midnight UTC.' }),
    channel_type: nullableText('The kind of channel when grouped by `channel_type` or `channel`, else null (all kinds).'),
    channel_id: nullableText('The channel when grouped by `channel`, else null (all channels).'),
    messages: Type.Integer({ description: 'Outbound messages accepted in the period, failed ones included.' }),
    package_credits: Type.Integer({ description: 'Credits taken, gross.' }),
    wallet_micros: Type.Integer({ description: 'Micro-USD taken from the wallet, gross.' }),
    refunded_credits: Type.Integer({ description: 'Credits returned in the period, whenever the message was accepted.' }),
    refunded_micros: Type.Integer({ description: 'Micro-USD returned in the period, whenever the message was accepted.' }),
    currency: Type.Literal('USD'),
  },
  { title: 'UsageRecord', description: 'Gross figures, right to the message. Refunds count on the day of the refund, in columns of their own.' },
)
export type UsageRecord = Static<typeof UsageRecord>
