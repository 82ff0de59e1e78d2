/** The Event (behaviour: webhooks 1): the body of a webhook and the item of the feed. */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { eventTypes } from '../events.ts'
import { AnyObject, Timestamp } from './nullable.ts'

export const Event = Type.Object(
  {
    id: Type.String({ description: 'Prefix `evt_`; the same in every retry. Receivers deduplicate on it.' }),
    object: objectName('event'),
    type: Type.String({
      description: `One of ${Object.keys(eventTypes)
        .map((type) => `\`${type}\``)
        .join(', ')}. More may be added.`,
      examples: ['message.delivered'],
    }),
    mode: Mode,
    created_at: Timestamp({ description: 'When it occurred.' }),
    data: Type.Object({ object: AnyObject({ description: 'The resource as it was at that moment.' }) }),
  },
  { $id: 'Event', description: 'An event of the account, delivered by webhooks and listed in the feed.' },
)
export type Event = Static<typeof Event>
