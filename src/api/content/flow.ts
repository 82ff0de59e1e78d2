/** Content `flow`: a text with a button that opens a form inside the app. */
import { Type } from 'typebox'
import { fail } from './check.ts'
import { contentType } from './content-type.ts'
import { body, footer, header, maybe, oneOf, text } from './fields.ts'
import { at, headerContent, isAbsent, type Rule } from './rules.ts'

const oneFlow: Rule = (value, walk) => {
  const parameters = at(value, 'action', 'parameters')
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return
  const byId = !isAbsent(at(parameters, 'flow_id'))
  const byName = !isAbsent(at(parameters, 'flow_name'))
  if (!byId && !byName)
    fail(
      walk,
      'missing_field',
      (path) => `Add ${path}, or \`flow_name\` in its place: one of them says which flow opens.`,
      'action',
      'parameters',
      'flow_id',
    )
  if (byId && byName)
    fail(
      walk,
      'invalid_value',
      (path) => `Leave out ${path} or \`flow_id\`: exactly one of them says which flow opens.`,
      'action',
      'parameters',
      'flow_name',
    )
}

const parameters = Type.Object(
  {
    flow_id: maybe(text(1, undefined, 'The id of the flow; either this or `flow_name`.')),
    flow_name: maybe(text(1, undefined, 'The name of the flow; either this or `flow_id`.')),
    flow_cta: text(1, 20, 'The label of the button.'),
    flow_token: maybe(text(0, undefined, 'Your own reference of this run of the flow.')),
    mode: maybe(oneOf(['draft', 'published'], 'Which version of the flow opens; `published` when absent.')),
    flow_action: maybe(
      oneOf(
        ['navigate', 'data_exchange'],
        'Whether a screen opens immediately or your endpoint is called first; by default `navigate`.',
      ),
    ),
    flow_action_payload: maybe(
      Type.Object({}, { additionalProperties: true, description: 'The first screen and its data, for `navigate`.' }),
    ),
  },
  { description: 'The flow and its button.' },
)

export const flow = contentType({
  summary: 'A text with a button that opens a form inside the app; the response arrives as a `flow_reply`.',
  schema: Type.Object({
    header,
    body,
    footer,
    action: Type.Object({ parameters }, { description: 'The flow that the recipient can open.' }),
  }),
  example: {
    header: { type: 'text', text: 'Fitting' },
    body: { text: 'Book a time for your fitting.' },
    footer: { text: 'Takes a minute' },
    action: {
      parameters: {
        flow_id: '1064219735',
        flow_cta: 'Book',
        flow_token: 'fitting-A-1042',
        mode: 'published',
        flow_action: 'navigate',
        flow_action_payload: { screen: 'BOOKING', data: { order: 'A-1042' } },
      },
    },
  },
  rules: [
    { sentence: 'Exactly one of `flow_id` and `flow_name` is given.', check: oneFlow },
    { sentence: 'A header of type `text` has a `text`, one of another type a `url`.', check: headerContent },
  ],
  direction: 'both',
})
