/** Rules of segments over contacts and of automations over events (behaviour: segments 2). */
import { Type } from 'typebox'

export const ruleOperators = [
  'equals',
  'not_equals',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'exists',
  'not_exists',
  'greater_than',
  'less_than',
  'before',
  'after',
  'within_days',
  'not_within_days',
  'contains_any',
  'contains_all',
  'contains_none',
] as const
export type RuleOperator = (typeof ruleOperators)[number]

export const ruleLimits = {
  /** The outermost group counts as 1. */
  depth: 3,
  conditions: 50,
  /** For `in`, `contains_any` and similar operators. */
  values: 1000,
  text_length: 1024,
  days: 36_500,
} as const

type AnyRules = Record<string, unknown>

/** Any object for the server, which parses rules in code; a group in the document. */
export const Rules = (options: object) =>
  Type.Unsafe<AnyRules>({ $id: 'Rules', type: 'object', additionalProperties: true, ...options })
export const NullableRules = (options: object) =>
  Type.Unsafe<AnyRules | null>({ $id: 'Rules', type: ['object', 'null'], additionalProperties: true, ...options })

const scalar = [{ type: 'string', maxLength: ruleLimits.text_length }, { type: 'number' }, { type: 'boolean' }]

const Rule = {
  $id: 'Rule',
  type: 'object',
  description: 'A condition on one field.',
  additionalProperties: false,
  required: ['field', 'operator'],
  properties: {
    field: { type: 'string', description: 'The field that is looked at.', examples: ['tags'] },
    operator: {
      type: 'string',
      enum: [...ruleOperators],
      description: 'The comparison; the kind of field determines which ones are allowed.',
    },
    value: {
      description:
        'The value to compare with: an array for `in`, `not_in`, `contains_any`, `contains_all` and `contains_none`, absent for `exists` and `not_exists`.',
      anyOf: [
        ...scalar,
        { type: 'array', minItems: 1, maxItems: ruleLimits.values, items: { anyOf: scalar } },
        { type: 'null' },
      ],
      examples: ['vip'],
    },
  },
  examples: [{ field: 'tags', operator: 'contains', value: 'vip' }],
}

export const documentedRules = {
  type: 'object',
  description: `A group of conditions and of further groups, ${ruleLimits.depth} deep, with ${ruleLimits.conditions} conditions in all.`,
  additionalProperties: false,
  required: ['match', 'conditions'],
  properties: {
    match: {
      type: 'string',
      enum: ['all', 'any'],
      description: 'Whether all of the conditions are to be met, or any of them.',
    },
    conditions: {
      type: 'array',
      minItems: 1,
      maxItems: ruleLimits.conditions,
      description: 'Conditions and groups.',
      items: { anyOf: [Rule, { $ref: '#/components/schemas/Rules' }] },
      examples: [[{ field: 'tags', operator: 'contains', value: 'vip' }]],
    },
  },
  examples: [{ match: 'all', conditions: [{ field: 'tags', operator: 'contains', value: 'vip' }] }],
}
