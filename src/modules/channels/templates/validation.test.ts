import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMarketing, refusalOf, type TemplateContent } from './validation.ts'

const row = (more: object = {}) => ({
  name: 'offer',
  language: 'en_US',
  status: 'APPROVED',
  category: 'MARKETING',
  parameter_format: 'POSITIONAL',
  components: [
    { type: 'HEADER', text: '{{1}}' },
    { type: 'BODY', text: 'Hi {{1}}, {{ 2 }} and {{1}}' },
  ] as Record<string, unknown>[],
  ...more,
})
const written = (parameters: number, more: object = {}): TemplateContent => ({
  name: 'offer',
  language: { code: 'en_US' },
  components: [
    { type: 'header', parameters: [{}] },
    { type: 'BODY', parameters: Array.from({ length: parameters }, () => ({})) },
  ],
  ...more,
})
const paramOf = (rows: readonly ReturnType<typeof row>[], content: TemplateContent) =>
  refusalOf('ch_1', rows, content)?.param ?? null

test('the blanks of a body are counted once each, by number or by name', () => {
  const named = row({
    components: [
      { type: 'HEADER', text: '{{1}}' },
      { type: 'body', text: 'Hi {{first_name}}, {{order}}' },
    ],
  })

  assert.deepEqual(
    [0, 1, 2, 3].map((parameters) => paramOf([row()], written(parameters))),
    ['template.components', 'template.components', null, 'template.components'],
  )
  assert.equal(paramOf([named], written(2)), null)
  assert.equal(paramOf([row({ components: [{ type: 'BODY', text: 'Hi' }] })], written(0, { components: null })), null)
})

test('a message that the copy cannot certainly judge is not refused', () => {
  for (const components of [[], [{ type: 'BODY' }], [{ type: 'CAROUSEL', cards: [] }]])
    assert.equal(paramOf([row({ components })], written(7)), null)
})

test('of two templates with one name and language the approved one counts', () => {
  const rows = [row({ status: 'REJECTED', category: 'UTILITY' }), row()]

  assert.equal(paramOf(rows, written(2)), null)
  assert.equal(isMarketing(rows, written(2)), true)
  assert.equal(paramOf([rows[0]!], written(2)), 'template.name')
  assert.equal(isMarketing([rows[0]!], written(2)), false)
  assert.equal(paramOf(rows, written(2, { language: { code: 'de' } })), 'template.language.code')
  assert.equal(paramOf([], written(2)), 'template.name')
})

test('a refusal of many languages stays short', () => {
  const rows = Array.from({ length: 500 }, (_, n) => row({ language: `l${n}` }))

  assert.ok(refusalOf('ch_1', rows, written(2))!.message.length < 400)
})
