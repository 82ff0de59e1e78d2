/** Inbound content `unsupported`: a message that has no content type here. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { text } from './fields.ts'

export const unsupported = contentType({
  summary: 'Something came in that the provider or this service cannot show.',
  schema: Type.Object({ provider_type: text(0, undefined, 'What the provider calls it.') }),
  example: { provider_type: 'ephemeral' },
  rules: [],
  direction: 'inbound',
})
