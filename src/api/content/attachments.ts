/** Content `attachments`: pictures, videos, sounds, documents and stickers. */
import { Type, type TSchema } from 'typebox'
import { contentType } from './content-type.ts'
import { httpsUrl, list, maybe, oneOf, text, webUrl } from './fields.ts'

const attachmentTypes = ['image', 'video', 'audio', 'document', 'sticker'] as const

const attachment = <U extends TSchema>(url: U, captionMax?: number) =>
  Type.Object({
    type: oneOf(attachmentTypes, 'The kind of file.'),
    url,
    filename: maybe(text(0, undefined, 'The name under which a document is shown.')),
    caption: maybe(text(0, captionMax, 'Words shown with the file.')),
  })

export const attachments = contentType({
  summary:
    'One to ten files, fetched from their URLs. On a live WhatsApp channel each becomes a separate provider message, under one Message and one charge.',
  schema: list(
    attachment(httpsUrl('Where the file is fetched from.'), 1024),
    1,
    10,
    'The files, in the order in which they are sent.',
  ),
  inbound_schema: list(
    attachment(
      webUrl(
        'A signed address of this service, which expires; 503 with `Retry-After` while the file is still being copied.',
      ),
    ),
    1,
    undefined,
    'The files that came in.',
  ),
  example: [
    {
      type: 'document',
      url: 'https://example.com/invoices/A-1042.pdf',
      filename: 'invoice-A-1042.pdf',
      caption: 'Your invoice',
    },
    { type: 'image', url: 'https://example.com/parcels/A-1042.jpg' },
  ],
  rules: [],
  direction: 'both',
})
