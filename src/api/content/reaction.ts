/** Inbound content `reaction`: the recipient reacted to a message with an emoji. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { maybe, text } from './fields.ts'

export const reaction = contentType({
  summary: 'The recipient added or removed a reaction.',
  schema: Type.Object({
    message_id: maybe(text(0, undefined, 'The id of the message, null when this service does not know it.')),
    emoji: maybe(text(0, undefined, 'The emoji; null or empty if the reaction was removed.')),
  }),
  example: { message_id: 'msg_01kfz6v0h8e9ta4vkq3x8r2m5c', emoji: '👍' },
  rules: [],
  direction: 'inbound',
})
