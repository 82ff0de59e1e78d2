/** Content `catalog`: a text with a button that opens the whole catalog. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { body, footer, maybe, text } from './fields.ts'

const parameters = maybe(
  Type.Object(
    {
      thumbnail_product_retailer_id: maybe(
        text(1, undefined, 'The product whose picture is shown; by default the first one.'),
      ),
    },
    { description: 'How the catalog is shown.' },
  ),
)

export const catalog = contentType({
  summary: 'A text with a button that opens the whole catalog.',
  schema: Type.Object({
    body,
    footer,
    action: maybe(Type.Object({ parameters }, { description: 'The catalog.' })),
  }),
  example: {
    body: { text: 'Our spring collection is here.' },
    footer: { text: 'New every week' },
    action: { parameters: { thumbnail_product_retailer_id: 'SKU-204' } },
  },
  rules: [],
  direction: 'both',
})
