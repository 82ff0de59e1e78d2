/** Segments: contacts selected by rules (behaviour: segments 1). */
import { Type, type Static } from 'typebox'
import { Mode, deletedOf, objectName } from './shared-fields.ts'
import { NullableString, Timestamp } from './nullable.ts'
import { Rules } from './rules.ts'

const descriptionLengthMax = 500

const rulesExample = {
  match: 'all',
  conditions: [
    { field: 'consent.sms', operator: 'equals', value: 'opted_in' },
    {
      match: 'any',
      conditions: [
        { field: 'tags', operator: 'contains', value: 'vip' },
        { field: 'attributes.orders', operator: 'greater_than', value: 10 },
      ],
    },
  ],
}

const rules = {
  description:
    'A group {`match` `all`|`any`, `conditions`}; each condition is another group or {`field`, `operator`, `value`}. Groups nest 3 deep, 50 conditions in all. ' +
    'Fields: those of a contact, `tags`, `lists`, `identifiers.<channel type>`, `consent.<channel type>`, `attributes.<key>`. ' +
    'Operators: `equals`, `not_equals`, `in`, `not_in`, `contains`, `starts_with`, `exists`, `not_exists`, `greater_than`, `less_than`, `before`, `after`, ' +
    '`within_days`, `not_within_days`, `contains_any`, `contains_all`, `contains_none`. Text compares without regard to case. A missing value matches only the negations and `not_exists`.',
  examples: [rulesExample],
}

export const Segment = Type.Object(
  {
    id: Type.String({ description: 'Prefix `seg_`.' }),
    object: objectName('segment'),
    mode: Mode,
    name: Type.String({ description: 'For people: 1 to 120 characters.' }),
    description: Type.String({ description: 'For people; empty where there is none.' }),
    rules: Rules(rules),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { $id: 'Segment', description: 'Contacts that fit rules, looked up whenever they are needed.' },
)
export type Segment = Static<typeof Segment>

const name = Type.String({ minLength: 1, maxLength: 120, description: 'For people.' })
const describing = Type.Optional(
  NullableString({ maxLength: descriptionLengthMax, description: 'For people; null is the empty text.' }),
)

export const SegmentCreation = Type.Object(
  { name, description: describing, rules: Rules(rules) },
  { $id: 'SegmentCreation' },
)
export const SegmentUpdate = Type.Object(
  {
    name: Type.Optional(name),
    description: describing,
    rules: Type.Optional(Rules({ ...rules, description: `Replaced whole. ${rules.description}` })),
  },
  { $id: 'SegmentUpdate' },
)
export const SegmentDeleted = deletedOf('segment')

const counted = {
  count: Type.Integer({ description: 'Contacts that fit the rules now.' }),
  reachable: Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description:
      'Channel type to those of them that can be written to there: with an identifier, and neither opted out nor blocked.',
  }),
  evaluated_at: Timestamp(),
}
export const SegmentPreview = Type.Object(
  {
    object: objectName('segment_preview'),
    segment_id: Type.String({ description: 'The segment (`seg_`) that was looked up.' }),
    ...counted,
  },
  { $id: 'SegmentPreview' },
)
export type SegmentPreview = Static<typeof SegmentPreview>

export const RulesPreviewRequest = Type.Object(
  { rules: Rules(rules) },
  { $id: 'RulesPreviewRequest', additionalProperties: false },
)
export const RulesPreview = Type.Object(
  {
    object: objectName('segment_preview'),
    segment_id: Type.Null({ description: 'Always null: the rules are of no segment yet.' }),
    ...counted,
  },
  { $id: 'RulesPreview', description: 'Whom rules mean, before a segment is made of them.' },
)
export type RulesPreview = Static<typeof RulesPreview>
