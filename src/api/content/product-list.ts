/** Content `product_list`: several products of a catalog in sections. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { body, footer, list, maybe, oneOf, text } from './fields.ts'
import { sectionTitles, sectionTotal } from './rules.ts'

const section = Type.Object({
  title: maybe(text(0, 24, 'The headline of the section; required when there are several.')),
  product_items: list(
    Type.Object({ product_retailer_id: text(1, undefined, 'Your own article number, as in the catalog.') }),
    1,
    30,
    'The articles.',
  ),
})

export const productList = contentType({
  summary: 'Up to thirty products of a catalog, in sections.',
  schema: Type.Object({
    header: Type.Object(
      { type: maybe(oneOf(['text'], 'Only `text`; may be left out.')), text: text(1, 60, 'The headline.') },
      { description: 'The header above the message.' },
    ),
    body,
    footer,
    action: Type.Object(
      {
        catalog_id: text(1, undefined, 'The id of the catalog at the provider.'),
        sections: list(section, 1, 10, 'The groups of articles.'),
      },
      { description: 'The articles.' },
    ),
  }),
  example: {
    header: { type: 'text', text: 'Our picks for you' },
    body: { text: 'Made to go with your new coat.' },
    footer: { text: 'Free delivery this week' },
    action: {
      catalog_id: '194836987003835',
      sections: [
        { title: 'Shoes', product_items: [{ product_retailer_id: 'SKU-204' }, { product_retailer_id: 'SKU-205' }] },
        { title: 'Scarves', product_items: [{ product_retailer_id: 'SKU-311' }] },
      ],
    },
  },
  rules: [
    {
      sentence: 'All sections together have at most 30 articles.',
      check: sectionTotal('product_items', 30, 'products'),
    },
    { sentence: 'Where there are several sections, each has a `title`.', check: sectionTitles },
  ],
  direction: 'both',
})
