/** The console's overview of an account and its search results (behaviour: console 7). */
import { Type, type Static } from 'typebox'
import { objectName } from './shared-fields.ts'

const counts = {
  sent: Type.Integer({ description: 'Messages that a provider took, those that failed later too.' }),
  delivered: Type.Integer({
    description: 'Those of them that arrived, as far as the channel tells; those read count too.',
  }),
  failed: Type.Integer({ description: 'Messages that failed, before or after they were sent.' }),
}

const attentionTypes = [
  'channel_disconnected',
  'channel_suspended',
  'webhook_endpoint_disabled',
  'campaign_paused',
  'campaign_failed',
  'balance_low',
] as const
export type AttentionType = (typeof attentionTypes)[number]

export const Overview = Type.Object(
  {
    object: objectName('overview'),
    ...counts,
    days: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date', description: "A day of the account's time zone." }),
        ...counts,
      }),
      {
        description: 'The last 30 days, the oldest first; a message counts on the day on which it was created.',
      },
    ),
    needs_attention: Type.Array(
      Type.Object({
        type: Type.Unsafe<AttentionType>({
          type: 'string',
          enum: [...attentionTypes],
          description: 'The reason. More may be added.',
        }),
        id: Type.String({ description: 'Where: the channel, endpoint, campaign or account.' }),
      }),
      { description: 'Things that need attention, among those that the role may read.' },
    ),
  },
  { $id: 'Overview', description: 'The last 30 days of an account in one mode.' },
)
export type Overview = Static<typeof Overview>

export const SearchResult = Type.Object(
  {
    object: objectName('search_result'),
    type: Type.String({ description: 'The `object` of what was found.', examples: ['contact'] }),
    id: Type.String({ description: 'Of what was found.' }),
    title: Type.String({ description: 'For people: a name, a number or an address.' }),
  },
  { $id: 'SearchResult', description: 'Something that a search found.' },
)
export type SearchResult = Static<typeof SearchResult>
