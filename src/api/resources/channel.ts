/** The Channel and the template record (behaviour: channels 1, 6). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { capabilities, contentTypes, isCapability } from '../content/registry.ts'
import { AnyObject, NullableString, Timestamp } from './nullable.ts'

/** Built types, and reserved names (behaviour: channels 1.1). */
export const channelTypes = ['whatsapp', 'sms', 'telegram'] as const
export const reservedChannelTypes = ['messenger', 'instagram', 'viber', 'rcs', 'email'] as const
export type ChannelType = (typeof channelTypes)[number]

export const isPhoneChannel = (type: string): boolean => type === 'whatsapp' || type === 'sms'

/** (behaviour: channels 1.3) */
export const messageTypes = capabilities
/** (behaviour: content 4) */
export const inboundTypes = Object.keys(contentTypes).filter((type) => !isCapability(type))

/** (behaviour: channels 1.3) */
export const capabilitiesOf: Readonly<Record<ChannelType, readonly string[]>> = {
  whatsapp: messageTypes,
  sms: ['text'],
  telegram: ['text', 'attachments', 'button', 'cta_url', 'location', 'contacts'],
}

const fields = {
  id: Type.String({ description: 'Prefix `ch_`; sandbox channels are `ch_test_` and their type.' }),
  object: objectName('channel'),
  mode: Mode,
  type: Type.String({
    enum: [...channelTypes],
    description: 'The channel type, which determines the form of recipient addresses and the price.',
  }),
  provider: Type.String({
    description: 'The provider of the channel, such as `whatsapp_cloud` or `twilio`; `sandbox` in test mode.',
  }),
  name: Type.String({ description: 'For people: 1 to 120 characters.' }),
  identifier: Type.String({
    description:
      'The sender that recipients see: an E.164 number, a short code or a name. Belongs to only one account.',
  }),
  status: Type.String({
    enum: ['pending', 'active', 'suspended', 'disabled'],
    description: 'Only an `active` channel sends. While it is `disabled` by the account, accepted messages wait.',
  }),
  connection_status: Type.String({
    enum: ['connecting', 'connected', 'disconnected'],
    description:
      'The connection to the provider. A lost connection is retried automatically, or immediately by `reconnect`.',
  }),
  capabilities: Type.Array(Type.String({ enum: [...messageTypes] }), {
    description: 'The types of message that it can send.',
  }),
  settings: AnyObject({
    description: '`max_messages_per_second`, and data of the provider. Never contains credentials.',
  }),
  webhook_url: NullableString({ description: 'The address to register with the provider; null on sandbox channels.' }),
  created_at: Timestamp(),
}

export const Channel = Type.Object(fields, { $id: 'Channel', description: "One of the account's senders." })
export type Channel = Static<typeof Channel>

export const ConnectedChannel = Type.Object(
  {
    ...fields,
    verify_token: Type.Optional(
      Type.String({
        description:
          "The word for the provider's handshake, where it has one and none was given. Shown only here: paste it where `webhook_url` is registered.",
      }),
    ),
  },
  { $id: 'ConnectedChannel', description: 'A channel as answered when it is connected.' },
)
export type ConnectedChannel = Static<typeof ConnectedChannel>

export const Template = Type.Object(
  {
    id: Type.String({ description: 'Prefix `tpl_`.' }),
    object: objectName('template'),
    channel_id: Type.String({ description: 'The channel (`ch_`) that it may be sent on.' }),
    name: Type.String({ description: 'The value for `template.name` of a message.' }),
    language: Type.String({ description: 'The value for `template.language.code` of a message, such as `en_US`.' }),
    category: Type.String({
      description: "The provider's category, such as `MARKETING`, `UTILITY` or `AUTHENTICATION`.",
    }),
    status: Type.String({
      enum: ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'],
      description: "The provider's word. Only an `APPROVED` one can be sent.",
    }),
    parameter_format: Type.String({ description: '`POSITIONAL`: its blanks are numbered. `NAMED`: they have names.' }),
    components: Type.Array(AnyObject(), {
      description: 'The parts reported by the provider: header, body, footer and buttons.',
    }),
    rejected_reason: NullableString({
      description: 'Why the provider did not approve it; null where it gave no reason.',
    }),
    updated_at: Timestamp(),
  },
  { $id: 'Template' },
)
export type Template = Static<typeof Template>
