/** The Channel and the template record (behaviour: channels 1, 6). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'
import { capabilities, contentTypes, isCapability } from '../content/registry.ts'
import { AnyObject, NullableString, Timestamp } from './nullable.ts'

/** Channel types that are built, and those whose names are kept for later (behaviour: channels 1.1). */
export const channelTypes = ['whatsapp', 'sms', 'telegram'] as const
export const reservedChannelTypes = ['messenger', 'instagram', 'viber', 'rcs', 'email'] as const
export type ChannelType = (typeof channelTypes)[number]

/** The types whose recipients are phone numbers. */
export const isPhoneChannel = (type: string): boolean => type === 'whatsapp' || type === 'sms'

/** Every message type that some channel can send, in the order of capabilities (behaviour: channels 1.3). */
export const messageTypes = capabilities
/** The types that only come in (behaviour: content 4). */
export const inboundTypes = Object.keys(contentTypes).filter((type) => !isCapability(type))

/** What each channel type can carry at most (behaviour: channels 1.3). */
export const capabilitiesOf: Readonly<Record<ChannelType, readonly string[]>> = {
  whatsapp: messageTypes,
  sms: ['text'],
  telegram: ['text', 'attachments', 'button', 'cta_url', 'location', 'contacts'],
}

const fields = {
  id: Type.String(),
  object: objectName('channel'),
  mode: Mode,
  type: Type.String({ enum: [...channelTypes] }),
  provider: Type.String(),
  name: Type.String(),
  identifier: Type.String(),
  status: Type.String({ enum: ['pending', 'active', 'suspended', 'disabled'] }),
  connection_status: Type.String({ enum: ['connecting', 'connected', 'disconnected'] }),
  capabilities: Type.Array(Type.String({ enum: [...messageTypes] })),
  settings: AnyObject(),
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
        description: "The word for the provider's handshake, where it has one and none was given. Shown only here: paste it where `webhook_url` is registered.",
      }),
    ),
  },
  { $id: 'ConnectedChannel', description: 'A channel as answered when it is connected.' },
)
export type ConnectedChannel = Static<typeof ConnectedChannel>

export const Template = Type.Object(
  {
    id: Type.String(),
    object: objectName('template'),
    channel_id: Type.String(),
    name: Type.String(),
    language: Type.String(),
    category: Type.String(),
    status: Type.String({ examples: ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'] }),
    parameter_format: Type.String(),
    components: Type.Array(AnyObject()),
    rejected_reason: NullableString(),
    updated_at: Timestamp(),
  },
  { $id: 'Template' },
)
export type Template = Static<typeof Template>
