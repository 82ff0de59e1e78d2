/** Content `template`: a text that the provider has approved, with its parameters. */
import { Type } from 'typebox'
import { fail } from './check.ts'
import { contentType } from './content-type.ts'
import { list, maybe, text } from './fields.ts'
import { type Rule } from './rules.ts'

const parameter = Type.Object({
  type: text(1, undefined, 'The parameter value, for example `text`, `image` or `payload`.'),
  text: maybe(text(0, undefined, 'The words; required for type `text`.')),
})

const component = Type.Object({
  type: text(1, undefined, 'The part of the template, for example `header`, `body` or `button`.'),
  parameters: maybe(list(parameter, 0, undefined, 'The parameters of this part, in order.')),
})

/** Plain loops, because every template passes through here. */
const parameterTexts: Rule = (value, walk) => {
  const components = (value as { components?: unknown }).components
  if (!Array.isArray(components)) return
  for (let c = 0; c < components.length; c++) {
    const parameters = (components[c] as { parameters?: unknown } | null)?.parameters
    if (!Array.isArray(parameters)) continue
    for (let p = 0; p < parameters.length; p++) {
      const one = parameters[p] as { type?: unknown; text?: unknown } | null | undefined
      if (one?.type === 'text' && (one.text === undefined || one.text === null)) {
        fail(
          walk,
          'missing_field',
          (path) => `Add ${path}: a parameter of type \`text\` needs the string that fills the blank.`,
          'components',
          c,
          'parameters',
          p,
          'text',
        )
      }
    }
  }
}

export const template = contentType({
  summary:
    'An approved template with its parameters; the only type that WhatsApp allows outside the 24-hour customer service window.',
  schema: Type.Object({
    name: text(1, 512, 'The name under which the template was approved.'),
    language: Type.Object(
      { code: text(1, undefined, 'The language of the template, for example `en_US`.') },
      { description: 'Which translation is sent.' },
    ),
    components: maybe(list(component, 0, undefined, 'The parts of the template that have blanks.')),
  }),
  example: {
    name: 'order_update',
    language: { code: 'en_US' },
    components: [
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'Ada' },
          { type: 'text', text: 'A-1042' },
        ],
      },
    ],
  },
  rules: [{ sentence: 'A parameter of type `text` has a `text`.', check: parameterTexts }],
  direction: 'both',
})
