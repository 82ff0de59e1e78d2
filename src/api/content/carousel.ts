/** Content `carousel`: cards side by side, each with a picture or video and the same kind of buttons. */
import { Type } from 'typebox'
import { fail, type Walk } from './check.ts'
import { contentType } from './content-type.ts'
import { body, httpsUrl, list, maybe, oneOf, replyButton, text, urlParameters } from './fields.ts'
import { at, isAbsent, itemsAt, uniqueButtons, type Rule } from './rules.ts'

const cardsMax = 10

const card = Type.Object({
  header: Type.Object(
    {
      type: oneOf(['image', 'video'], 'Type of the media on the card.'),
      url: httpsUrl('Where the picture or video is fetched from.'),
    },
    { description: 'The picture or video of the card.' },
  ),
  body: maybe(Type.Object({ text: text(0, 160, 'The text of the card.') }, { description: 'The text of the card.' })),
  action: Type.Object(
    { parameters: maybe(urlParameters), buttons: maybe(list(replyButton, 1, 3, 'The buttons.')) },
    { description: 'Either `parameters` or `buttons`.' },
  ),
})

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** null for an invalid card. */
function actionOf(card: unknown): string | null {
  const hasUrl = !isAbsent(at(card, 'action', 'parameters'))
  const hasButtons = !isAbsent(at(card, 'action', 'buttons'))
  if (hasUrl === hasButtons) return null
  return hasUrl ? 'a URL button' : `reply buttons, ${itemsAt(card, 'action', 'buttons').length} of them`
}

function oneAction(card: unknown, i: number, walk: Walk): void {
  if (!isObject(at(card, 'action'))) return
  const hasUrl = !isAbsent(at(card, 'action', 'parameters'))
  const hasButtons = !isAbsent(at(card, 'action', 'buttons'))
  if (!hasUrl && !hasButtons)
    fail(
      walk,
      'missing_field',
      (path) => `Add ${path} for a URL button, or \`buttons\` for reply buttons.`,
      'cards',
      i,
      'action',
      'parameters',
    )
  if (hasUrl && hasButtons)
    fail(
      walk,
      'invalid_value',
      (path) => `${path} has both \`parameters\` and \`buttons\`; leave one of them out.`,
      'cards',
      i,
      'action',
    )
}

/** Meta: interactive media carousel messages. */
const cardHeaders: Rule = (value, walk) => {
  const kinds: unknown[] = itemsAt(value, 'cards')
    .slice(0, cardsMax)
    .map((one) => at(one, 'header', 'type'))
  const [first] = kinds
  if (first !== 'image' && first !== 'video') return
  for (const [i, kind] of kinds.entries()) {
    if (kind !== first && (kind === 'image' || kind === 'video'))
      fail(
        walk,
        'invalid_value',
        (path) => `${path} must be \`${first}\`, as the first card's: every card shows the same kind.`,
        'cards',
        i,
        'header',
        'type',
      )
  }
}

const cardActions: Rule = (value, walk) => {
  const cards = itemsAt(value, 'cards').slice(0, cardsMax)
  const first = actionOf(cards[0])
  for (const [i, one] of cards.entries()) {
    oneAction(one, i, walk)
    uniqueButtons(value, walk, 'cards', i, 'action', 'buttons')
    const action = actionOf(one)
    if (first !== null && action !== null && action !== first) {
      fail(
        walk,
        'invalid_value',
        (path) =>
          `${path} must be like the first card's (${first}): every card has the same kind and number of buttons.`,
        'cards',
        i,
        'action',
      )
    }
  }
}

export const carousel = contentType({
  summary: 'Two to ten cards side by side, each with a picture or video and a button.',
  schema: Type.Object({
    body,
    cards: list(card, 2, cardsMax, 'The cards, from left to right.'),
  }),
  example: {
    body: { text: 'Two ideas for your new coat:' },
    cards: [
      {
        header: { type: 'image', url: 'https://example.com/shoes.jpg' },
        body: { text: 'Suede shoes' },
        action: { parameters: { display_text: 'Look', url: 'https://example.com/shoes' } },
      },
      {
        header: { type: 'image', url: 'https://example.com/scarf.jpg' },
        body: { text: 'Silk scarf' },
        action: { parameters: { display_text: 'Look', url: 'https://example.com/scarf' } },
      },
    ],
  },
  rules: [
    { sentence: 'The cards show pictures or videos, every card the same kind.', check: cardHeaders },
    {
      sentence:
        'Each card has either `parameters` or `buttons`, every card the same kind and number; the `id` and `title` of the buttons of a card are unique.',
      check: cardActions,
    },
  ],
  direction: 'both',
})
