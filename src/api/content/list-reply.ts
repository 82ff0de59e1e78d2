/** Inbound content `list_reply`: the recipient chose a row of a list. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { maybe, text } from './fields.ts'

export const listReply = contentType({
  summary: 'The recipient chose a row of a `list` message.',
  schema: Type.Object({
    id: text(1, undefined, 'The `id` that you gave the row.'),
    title: text(0, undefined, 'The title of the row.'),
    description: maybe(text(0, undefined, "The row's second line.")),
  }),
  example: { id: 'mon_am', title: 'Morning', description: '9 to 12' },
  rules: [],
  direction: 'inbound',
})
