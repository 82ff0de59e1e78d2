/** Content `cta_url`: a text with one button that opens a web address. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { body, footer, header, urlParameters } from './fields.ts'
import { headerContent } from './rules.ts'

export const ctaUrl = contentType({
  summary: 'A text with one button that opens a web address.',
  schema: Type.Object({
    header,
    body,
    footer,
    action: Type.Object({ parameters: urlParameters }, { description: 'The link that the recipient can open.' }),
  }),
  example: {
    header: { type: 'image', url: 'https://example.com/parcels/van.jpg' },
    body: { text: 'Your parcel is on its way.' },
    footer: { text: 'Order A-1042' },
    action: { parameters: { display_text: 'Track it', url: 'https://example.com/track/A-1042' } },
  },
  rules: [{ sentence: 'A header of type `text` has a `text`, one of another type a `url`.', check: headerContent }],
  direction: 'both',
})
