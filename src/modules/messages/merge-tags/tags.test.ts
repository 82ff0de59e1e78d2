/** Merge tags are filled in as text only (behaviour: campaigns 3, 5). */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { filledLengthMax, render } from './rendering.ts'
import { isContactTag, isVariableTag, mergeValues, tagsOf, unknownTags, type MergeValues } from './tags.ts'

const values = (given: Record<string, string>): MergeValues => new Map(Object.entries(given))
const renderedText = (text: string, given: Record<string, string>, fallbacks: Record<string, string> = {}): unknown => {
  const result = render({ text }, values(given), fallbacks)
  return 'failures' in result
    ? result.failures.map(({ param, code }) => [param, code])
    : (result.rendered as { text: string }).text
}

/** Values with characters that mean something in tags, JSON, URLs or lines. */
const anyValue = fc.string({
  unit: fc.constantFrom(
    '{',
    '}',
    '{{',
    '}}',
    '{{first_name}}',
    '"',
    '\\',
    "'",
    '\n',
    '\r',
    '\t',
    '\u0000',
    '\u001b',
    '$&',
    '$1',
    '<',
    '&',
    '%',
    '/',
    'a',
    'ä',
    '😀',
  ),
})

test('a value is inserted as it is and adds no tags', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (first_name, code) => {
      const message = {
        type: 'button',
        button: {
          body: { text: 'Hi {{first_name}}!' },
          action: { buttons: [{ reply: { id: '{{code}}-1', title: '[{{ code }}|{{first_name}}]' } }] },
        },
        count: 3,
        flag: true,
        nothing: null,
      }
      const result = render(message, values({ first_name, code }), {})

      assert.ok('rendered' in result)
      assert.deepEqual(result.rendered, {
        type: 'button',
        button: {
          body: { text: `Hi ${first_name}!` },
          action: { buttons: [{ reply: { id: `${code}-1`, title: `[${code}|${first_name}]` } }] },
        },
        count: 3,
        flag: true,
        nothing: null,
      })
    }),
  )
})

test('a message keeps its structure whatever is filled in', () => {
  const shapeOf = (value: unknown): unknown => {
    if (typeof value === 'string') return 'text'
    if (Array.isArray(value)) return value.map(shapeOf)
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).map(([key, item]) => [key, shapeOf(item)])
    return value
  }
  const text = fc.oneof(fc.constantFrom('{{a}}', '{{ b }}', '{{a', 'b}}', '{{{a}}}', '{{a}}{{b}}'), fc.string())
  const message = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  })).value
  fc.assert(
    fc.property(message, anyValue, anyValue, (written, a, b) => {
      const result = render({ written }, values({ a: `${a}.`, b: `${b}.` }), {})

      if ('failures' in result) assert.ok(result.failures.every(({ code }) => code === 'too_short'))
      else assert.deepEqual(shapeOf(result.rendered), shapeOf({ written }))
    }),
  )
})

test('a tag is a name between double braces, and all other text stays as it is', () => {
  const written: [string, string][] = [
    ['{{first_name}}', 'Ada'],
    ['{{ first_name }}', 'Ada'],
    ['{{\tfirst_name\n}}', 'Ada'],
    ['{{{first_name}}}', '{Ada}'],
    ['{first_name}', '{first_name}'],
    ['{{first_name', '{{first_name'],
    ['first_name}}', 'first_name}}'],
    ['{{first_name}', '{{first_name}'],
    ['{{first_name} }', '{{first_name} }'],
    ['{{ {{first_name}} }}', '{{ Ada }}'],
    ['{{first_name}}{{first_name}}', 'AdaAda'],
  ]

  for (const [text, expected] of written) assert.equal(renderedText(text, { first_name: 'Ada' }), expected, text)
})

test('keys of a message contain no tags', () => {
  const message = { '{{first_name}}': 'x', list: ['{{city}}', { '{{b}}': '{{c}}{{c}}' }] }

  assert.deepEqual(tagsOf(message, 'message'), [
    { name: 'city', param: 'message.list[0]' },
    { name: 'c', param: 'message.list[1]["{{b}}"]' },
  ])
  const result = render(message, values({ first_name: 'Ada', city: 'Bonn', c: 'z' }), {})
  assert.deepEqual('rendered' in result && result.rendered, {
    '{{first_name}}': 'x',
    list: ['Bonn', { '{{b}}': 'zz' }],
  })
})

test('a tag must name a contact field, a defined attribute or a variable, and others are reported by path', () => {
  const [attributes, variables] = [new Set(['city']), new Set(['code', '__proto__'])]
  const isKnown = (name: string) => isContactTag(name, attributes) || isVariableTag(name, variables)
  const good = [
    'first_name',
    'last_name',
    'full_name',
    'phone',
    'email',
    'locale',
    'attributes.city',
    'code',
    'attributes.code',
    '__proto__',
  ]
  const bad = [
    '',
    'name',
    'First_Name',
    'attributes.',
    'attributes.colour',
    'attributes',
    'constructor',
    'toString',
    'city',
    'attributes.first_name',
    '1',
  ]

  for (const name of good) assert.deepEqual(unknownTags({ body: `{{${name}}}` }, { [name]: 'x' }, isKnown), [], name)
  for (const name of bad) {
    assert.deepEqual(
      unknownTags({ body: `{{${name}}}` }, {}, isKnown).map(({ param, code }) => [param, code]),
      [['message.body', 'unknown_merge_tag']],
      name,
    )
    assert.equal(unknownTags({}, { [name]: 'x' }, isKnown)[0]!.code, 'unknown_merge_tag', name)
  }
})

test('variables come first, then the contact, then the fallback, then nothing', () => {
  const filled = mergeValues({
    variables: { first_name: 'Vera', code: 7, city: false, empty: '', nothing: null, phone: '' },
    fields: {
      first_name: 'Ada',
      last_name: 'Lovelace',
      full_name: 'Ada Lovelace',
      phone: '+4915112345678',
      email: null,
      locale: '',
    },
    attributes: { city: 'Bonn', points: 0, vip: true, note: '' },
  })
  const text = (name: string, fallbacks: Record<string, string> = {}) => {
    const result = render({ text: `[{{${name}}}]` }, filled, fallbacks)
    return 'rendered' in result ? (result.rendered as { text: string }).text : null
  }

  assert.equal(text('first_name'), '[Vera]')
  assert.equal(text('attributes.first_name'), '[Vera]')
  assert.equal(text('last_name', { last_name: 'unused' }), '[Lovelace]')
  assert.equal(text('phone'), '[+4915112345678]')
  assert.equal(text('code'), '[7]')
  assert.equal(text('attributes.code'), '[7]')
  assert.equal(text('attributes.city'), '[false]')
  assert.equal(text('attributes.points'), '[0]')
  assert.equal(text('attributes.vip'), '[true]')
  assert.equal(text('email', { email: 'none' }), '[none]')
  assert.equal(text('locale', { locale: 'en' }), '[en]')
  assert.equal(text('attributes.note', { 'attributes.note': '{{first_name}}' }), '[{{first_name}}]')
  assert.equal(text('empty'), '[]')
  assert.equal(text('nothing'), '[]')
  assert.equal(text('toString', {}), '[]')
})

test('a text that becomes empty or blank is a failure at its path', () => {
  assert.deepEqual(renderedText('{{first_name}} {{last_name}}', {}), [['message.text', 'too_short']])
  assert.deepEqual(renderedText('{{first_name}}', { first_name: ' ' }), [['message.text', 'too_short']])
  assert.equal(renderedText('{{first_name}}', {}, { first_name: 'friend' }), 'friend')
  // a text that was blank before rendering is left to the message's own rules
  assert.equal(renderedText(' ', {}), ' ')
})

test('a message with too much text is a failure and is not rendered', () => {
  const tags = '{{a}}'.repeat(5000)

  assert.deepEqual(renderedText(tags, { a: 'x'.repeat(filledLengthMax) }), [['message', 'too_long']])
})
