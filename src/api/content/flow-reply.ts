/** Inbound content `flow_reply`: the recipient filled in a form. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { maybe, text } from './fields.ts'

export const flowReply = contentType({
  summary: 'The recipient filled in the form of a `flow` message.',
  schema: Type.Object({
    name: maybe(text(0, undefined, 'The name that the provider gives the form.')),
    body: maybe(text(0, undefined, 'The text that the recipient sees.')),
    response: Type.Object({}, { additionalProperties: true, description: 'The submitted fields.' }),
  }),
  example: { name: 'flow', body: 'Sent', response: { flow_token: 'fitting-A-1042', day: '2026-03-02', time: '10:30' } },
  rules: [],
  direction: 'inbound',
})
