/** Content `button`: a text with up to three answers to tap. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { body, footer, header, list, replyButton } from './fields.ts'
import { headerContent, uniqueButtons } from './rules.ts'

export const button = contentType({
  summary: 'A text with one to three buttons; the reply arrives as a `button_reply`.',
  schema: Type.Object({
    header,
    body,
    footer,
    action: Type.Object(
      { buttons: list(replyButton, 1, 3, 'The buttons.') },
      { description: 'The choices of the recipient.' },
    ),
  }),
  example: {
    header: { type: 'text', text: 'Delivery tomorrow' },
    body: { text: 'Will you be at home between 9 and 12?' },
    footer: { text: 'Order A-1042' },
    action: {
      buttons: [{ reply: { id: 'home_yes', title: 'Yes' } }, { reply: { id: 'home_no', title: 'Another day' } }],
    },
  },
  rules: [
    {
      sentence: 'The `id` of each button is unique, and so is its `title`.',
      check: (value, walk) => uniqueButtons(value, walk, 'action', 'buttons'),
    },
    { sentence: 'A header of type `text` has a `text`, one of another type a `url`.', check: headerContent },
  ],
  direction: 'both',
})
