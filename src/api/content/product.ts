/** Content `product`: one product of a catalog. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { body, footer, maybe, text } from './fields.ts'

export const product = contentType({
  summary: 'One product of a catalog.',
  schema: Type.Object({
    body: maybe(body),
    footer,
    action: Type.Object(
      {
        catalog_id: text(1, undefined, 'The id of the catalog at the provider.'),
        product_retailer_id: text(1, undefined, 'Your own article number, as in the catalog.'),
      },
      { description: 'The article.' },
    ),
  }),
  example: {
    body: { text: 'Back in stock.' },
    footer: { text: 'While it lasts' },
    action: { catalog_id: '194836987003835', product_retailer_id: 'SKU-204' },
  },
  rules: [],
  direction: 'both',
})
