/** Content `text`: words. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { text as string } from './fields.ts'

export const text = contentType({
  summary: 'A plain text.',
  schema: Type.Object({ body: string(1, 4096, 'The text; on `sms` channels at most 1600 characters.') }),
  // ten parts: the limit of SMS aggregators
  channel_schemas: { sms: Type.Object({ body: string(1, 1600, 'The text.') }) },
  inbound_schema: Type.Object({ body: string(0, 65_536, 'The text.') }),
  example: { body: 'Your order A-1042 has left our house and arrives tomorrow.' },
  rules: [],
  direction: 'both',
})
