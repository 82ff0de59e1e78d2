/** Content `location_request`: a text that asks the recipient for a location. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { body } from './fields.ts'

export const locationRequest = contentType({
  summary: 'A text with a button that lets the recipient send a location; it arrives as a `location`.',
  schema: Type.Object({ body }),
  example: { body: { text: 'Where should we deliver?' } },
  rules: [],
  direction: 'both',
})
