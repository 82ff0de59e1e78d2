/** Inbound content `reaction`: the recipient reacted to a message with an emoji. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { maybe, text } from './fields.ts'

export const reaction = contentType({
  summary: 'The recipient put an emoji on a message, or took it off.',
  schema: Type.Object({
    message_id: maybe(text(0, undefined, 'The id of the message, null when this service does not know it.')),
    emoji: maybe(text(0, undefined, 'The emoji; null or empty when it was taken off.')),
  }),
  example: { message_id: 'msg_01kfz6v0h8e9ta4vkq3x8r2m5c', emoji: '👍' },
  rules: [],
  direction: 'inbound',
})
