/** Inbound content `unsupported`: a message that has no content type here. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { text } from './fields.ts'

export const unsupported = contentType({
  summary: 'An inbound message that the provider or Posthorn cannot show.',
  schema: Type.Object({ provider_type: text(0, undefined, "The provider's type.") }),
  example: { provider_type: 'ephemeral' },
  rules: [],
  direction: 'inbound',
})
