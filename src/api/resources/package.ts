/** Packages: prepaid message credits (behaviour: billing 4). */
import { Type, type Static } from 'typebox'
import { defaultPrices } from './price.ts'
import { objectName } from './shared-fields.ts'
import { NullableTimestamp, Timestamp } from './nullable.ts'

const packageStatuses = ['active', 'exhausted', 'expired'] as const
export type PackageStatus = (typeof packageStatuses)[number]

export const Package = Type.Object(
  {
    id: Type.String({ description: 'Prefix `grant_`; the `package_grant_id` of messages and transactions.' }),
    object: objectName('package'),
    mode: Type.Literal('live', { description: 'Always `live`: nothing is charged in test mode.' }),
    name: Type.String({ description: 'As the operator called it when it was granted.' }),
    channel_types: Type.Array(Type.String({ enum: Object.keys(defaultPrices) }), {
      description: 'Kinds of channel that its credits pay for; empty: all.',
    }),
    credits_total: Type.Integer({ description: 'Credits granted.' }),
    credits_remaining: Type.Integer({
      description: 'Unused credits. They are written off within a minute after expiry.',
    }),
    status: Type.Unsafe<PackageStatus>({
      type: 'string',
      enum: [...packageStatuses],
      description:
        '`active`: has credits. `exhausted`: has none; a refunded credit makes it active again. `expired`: `expires_at` has passed.',
    }),
    expires_at: NullableTimestamp({ description: 'When unused credits end; null: never.' }),
    created_at: Timestamp(),
  },
  {
    $id: 'Package',
    description:
      'Prepaid credits. A message takes one from the applicable package that expires first (null last, ties by age).',
  },
)
export type Package = Static<typeof Package>
