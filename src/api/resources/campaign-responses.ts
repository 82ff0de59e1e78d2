/** Responses to a campaign, for the console (behaviour: console 7.7). */
import { Type, type Static } from 'typebox'
import { objectName } from './shared-fields.ts'

export const CampaignResponses = Type.Object(
  {
    object: objectName('campaign_responses'),
    campaign_id: Type.String({ description: 'The campaign (`cmp_`).' }),
    replies: Type.Integer({ description: 'Recipients who wrote on the channel within seven days of their message.' }),
    opt_outs: Type.Integer({ description: 'Those of them who opted out by what they wrote.' }),
    complete: Type.Boolean({
      description: 'False where so much came in that only the first 20,000 messages were looked at.',
    }),
  },
  { $id: 'CampaignResponses', description: 'Replies of the recipients of a campaign.' },
)
export type CampaignResponses = Static<typeof CampaignResponses>
