/** Inbound content `button_reply`: the recipient tapped a button. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { text } from './fields.ts'

export const buttonReply = contentType({
  summary: 'The recipient tapped a button of a `button`, `carousel` or `template` message.',
  schema: Type.Object({
    id: text(1, undefined, 'The `id` that you gave the button.'),
    title: text(0, undefined, 'The label of the button.'),
  }),
  example: { id: 'home_yes', title: 'Yes' },
  rules: [],
  direction: 'inbound',
})
