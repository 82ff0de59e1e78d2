/** Inbound content `order`: the recipient ordered from a catalog. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { list, maybe, text } from './fields.ts'

const item = Type.Object({
  product_retailer_id: text(1, undefined, 'Your own article number.'),
  quantity: maybe(Type.Number({ description: 'How many.' })),
  item_price: maybe(text(0, undefined, 'The price of one, a decimal number as the provider wrote it.')),
  currency: maybe(text(0, undefined, 'The currency of the price, in three letters.')),
})

export const order = contentType({
  summary: 'The recipient ordered from a `product`, `product_list` or `catalog` message.',
  schema: Type.Object({
    catalog_id: text(1, undefined, 'The id of the catalog at the provider.'),
    text: maybe(text(0, undefined, "The recipient's note.")),
    items: list(item, 1, undefined, 'The ordered products.'),
  }),
  example: {
    catalog_id: '194836987003835',
    text: 'As a gift, please.',
    items: [{ product_retailer_id: 'SKU-204', quantity: 1, item_price: '49.90', currency: 'EUR' }],
  },
  rules: [],
  direction: 'inbound',
})
