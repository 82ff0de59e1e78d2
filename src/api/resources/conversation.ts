/** Conversations of the console's inbox (behaviour: console 7.4). */
import { Type, type Static } from 'typebox'
import { NullableString, NullableTimestamp, Timestamp } from './nullable.ts'
import { Mode, objectName } from './shared-fields.ts'

export const conversationStatuses = ['open', 'done'] as const
export type ConversationStatus = (typeof conversationStatuses)[number]

const assignee = { description: 'Who sees to it: a member of the account (`usr_`), or null.' }
const statusOf = (description: string) =>
  Type.Unsafe<ConversationStatus>({ type: 'string', enum: [...conversationStatuses], description })

export const Conversation = Type.Object(
  {
    object: objectName('conversation'),
    id: Type.String({ description: 'Prefix `cnv_`.' }),
    mode: Mode,
    contact_id: NullableString({ description: 'The contact (`ct_`) who wrote; null where there is none.' }),
    contact_name: NullableString({ description: 'Name of the contact; null if it has none.' }),
    channel_id: Type.String({ description: 'The channel (`ch_`) that they wrote on.' }),
    identifier: Type.String({ description: 'Who wrote, as on messages.' }),
    status: statusOf('`done` is `open` again once something comes in.'),
    assignee: NullableString(assignee),
    assignee_name: NullableString({ description: 'Name of the member; null if nobody is assigned.' }),
    read: Type.Boolean({ description: 'False once something comes in.' }),
    window_expires_at: NullableTimestamp({
      description: 'Until when anything but a template may be sent; null on channels that do not ask for that.',
    }),
    last_message_at: Timestamp({ description: 'When something came in last.' }),
    last_message_type: NullableString({
      description: 'The type of what came in last; null once it is no longer kept.',
    }),
    last_message_text: NullableString({ description: 'The beginning of what came in last; null where it is no text.' }),
  },
  { $id: 'Conversation', description: 'The messages of one person on one channel.' },
)
export type Conversation = Static<typeof Conversation>

export const ConversationUpdate = Type.Object(
  {
    status: Type.Optional(statusOf('`done` takes it out of the inbox.')),
    assignee: Type.Optional(NullableString(assignee)),
    read: Type.Optional(Type.Boolean({ description: 'Whether somebody has seen what came in.' })),
  },
  { $id: 'ConversationUpdate', additionalProperties: false, examples: [{ status: 'done', read: true }] },
)
export type ConversationUpdate = Static<typeof ConversationUpdate>
