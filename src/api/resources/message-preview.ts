/** Message previews (behaviour: console 7). */
import { Type, type Static } from 'typebox'
import { CampaignCreation } from './campaign.ts'
import { AnyObject } from './nullable.ts'
import { objectName } from './shared-fields.ts'

const { channel, audience, message, merge_fallbacks } = CampaignCreation.properties

export const MessagePreviewRequest = Type.Object(
  { channel, message, audience: Type.Optional(audience), merge_fallbacks },
  {
    $id: 'MessagePreviewRequest',
    additionalProperties: false,
    description: 'As of a campaign; without an audience it is one message.',
  },
)
export type MessagePreviewRequest = Static<typeof MessagePreviewRequest>

export const MessagePreview = Type.Object(
  {
    object: objectName('message_preview'),
    message: AnyObject({
      description: 'As the first recipient would get it: `type` and the content object under the key named by it.',
    }),
    recipients_count: Type.Integer({ description: 'Whom the audience means now; without one 1.' }),
    cost: Type.Object(
      {
        package_credits: Type.Integer({ description: 'Credits that would be used.' }),
        wallet_micros: Type.Integer({ description: 'Micro-USD beyond them; whether or not the wallet holds as much.' }),
      },
      { description: 'Cost of the messages to recipients that may be written to.' },
    ),
  },
  { $id: 'MessagePreview', description: 'A message as it would go out now.' },
)
export type MessagePreview = Static<typeof MessagePreview>
