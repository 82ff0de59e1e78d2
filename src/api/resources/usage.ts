/** Usage records: messages and cost of a period (behaviour: billing 5.3). */
import { Type, type Static } from 'typebox'
import { channelTypes } from './channel.ts'
import { objectName } from './shared-fields.ts'
import { NullableString, Timestamp } from './nullable.ts'

export const usageGroups = ['day', 'month', 'channel_type', 'channel'] as const
export type UsageGroup = (typeof usageGroups)[number]

export const UsageRecord = Type.Object(
  {
    object: objectName('usage_record'),
    period_start: Timestamp({ description: 'Start of the period, inclusive: midnight UTC.' }),
    period_end: Timestamp({ description: 'End of the period, exclusive: midnight UTC.' }),
    channel_type: NullableString({
      enum: [...channelTypes, null],
      description: 'The channel type if grouped by `channel_type` or `channel`, otherwise null (all types).',
    }),
    channel_id: NullableString({ description: 'The channel if grouped by `channel`, otherwise null (all channels).' }),
    messages: Type.Integer({ description: 'Outbound messages accepted in the period, failed ones included.' }),
    package_credits: Type.Integer({ description: 'Credits charged, before refunds.' }),
    wallet_micros: Type.Integer({ description: 'Micro-USD charged to the wallet, before refunds.' }),
    refunded_credits: Type.Integer({
      description: 'Credits returned in the period, whenever the message was accepted.',
    }),
    refunded_micros: Type.Integer({
      description: 'Micro-USD returned in the period, whenever the message was accepted.',
    }),
    currency: Type.Literal('USD', { description: 'Amounts are in micro-USD: 1,000,000 are one US dollar.' }),
  },
  {
    $id: 'UsageRecord',
    description:
      'Gross figures, right to the message. Refunds count on the day of the refund, in columns of their own.',
  },
)
export type UsageRecord = Static<typeof UsageRecord>
