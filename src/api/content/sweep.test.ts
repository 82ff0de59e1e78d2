import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { detailCodes, type Detail } from '../errors.ts'
import { shapeOf, typeOf, type Shape } from './check.ts'
import type { ContentType } from './content-type.ts'
import { capabilities, contentTypes } from './registry.ts'
import { validateContent, validateInboundContent } from './validate.ts'
import { effort } from '../../../test/support/effort.ts'

type Path = readonly (string | number)[]
interface Place {
  readonly path: Path
  readonly shape: Shape
  readonly required: boolean
}

const whatsapp = { channel_type: 'whatsapp' }
const entries = Object.entries<ContentType>(contentTypes)
const validate = (type: string, value: unknown) =>
  contentTypes[type as 'text'].direction === ('both' as string)
    ? validateContent(type, value, whatsapp)
    : validateInboundContent(type, value)
const textOf = (type: string, path: Path) =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`), type)

function placesOf(shape: Shape, value: unknown, path: Path = [], required = true): Place[] {
  const here = { path, shape, required }
  if (value === undefined) return []
  if (Array.isArray(value)) return [here, ...value.flatMap((item, i) => placesOf(shape.items!, item, [...path, i]))]
  if (typeof value !== 'object' || value === null) return [here]
  const fields = Object.entries(shape.properties ?? {})
  return [
    here,
    ...fields.flatMap(([name, field]) =>
      placesOf(
        field,
        (value as Record<string, unknown>)[name],
        [...path, name],
        shape.required?.includes(name) ?? false,
      ),
    ),
  ]
}

function replaced(value: unknown, path: Path, by: unknown): unknown {
  if (path.length === 0) return by
  const copy = structuredClone(value)
  let parent = copy as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>
  if (by === undefined) delete parent[path.at(-1)!]
  else parent[path.at(-1)!] = by
  return copy
}

const samples: Record<string, unknown> = { string: 'text', number: 7, boolean: true, object: {}, array: [] }
const has = (details: readonly Detail[], param: string, code: string) =>
  details.some((detail) => detail.param === param && detail.code === code)

for (const [type, entry] of entries) {
  const places = placesOf(shapeOf(entry.schema), entry.example)

  test(`${type}: a value of another JSON type is named anywhere in it`, () => {
    for (const { path, shape } of places) {
      for (const [kind, sample] of Object.entries(samples)) {
        if (kind === typeOf(shape)) continue
        const param = textOf(type, path)
        assert.ok(
          has(validate(type, replaced(entry.example, path, sample)), param, 'invalid_type'),
          `${kind} at ${param}`,
        )
      }
    }
  })

  test(`${type}: null counts as absent for optional fields, and is a wrong type elsewhere`, () => {
    for (const { path, required } of places) {
      const details = validate(type, replaced(entry.example, path, null))
      const param = textOf(type, path)
      assert.equal(has(details, param, 'invalid_type'), required, param)
    }
  })

  test(`${type}: each required field is missed`, () => {
    for (const { path, required } of places) {
      if (!required || typeof path.at(-1) !== 'string') continue
      const param = textOf(type, path)
      assert.ok(has(validate(type, replaced(entry.example, path, undefined)), param, 'missing_field'), param)
    }
  })

  test(`${type}: each limit is exact to the character, item and degree`, () => {
    for (const { path, shape } of places) {
      const param = textOf(type, path)
      const at = (value: unknown) => validate(type, replaced(entry.example, path, value))
      if (shape.maxLength !== undefined) {
        assert.ok(!has(at('é'.repeat(shape.maxLength)), param, 'too_long'), param)
        assert.ok(has(at('😀'.repeat(shape.maxLength + 1)), param, 'too_long'), param)
      }
      if (shape.minLength !== undefined) assert.ok(has(at(''), param, 'too_short'), param)
      if (shape.minItems !== undefined) assert.ok(has(at([]), param, 'too_few'), param)
      if (shape.maxItems !== undefined) assert.ok(has(at(Array(shape.maxItems + 1).fill({})), param, 'too_many'), param)
      if (shape.maximum !== undefined)
        assert.ok(
          !has(at(shape.maximum), param, 'invalid_value') &&
            has(at(shape.maximum + 0.001), param, 'invalid_value') &&
            has(at(JSON.parse('1e999')), param, 'invalid_value'),
          param,
        )
      if (shape.minimum !== undefined)
        assert.ok(
          !has(at(shape.minimum), param, 'invalid_value') && has(at(shape.minimum - 0.001), param, 'invalid_value'),
          param,
        )
      if (shape.enum !== undefined) assert.ok(has(at('no such value'), param, 'invalid_value'), param)
      if (shape.format !== undefined) assert.ok(has(at('no such format'), param, 'invalid_format'), param)
    }
  })
}

function assertPresentable(type: string, details: readonly Detail[]): void {
  for (const { param, code, message } of details) {
    assert.match(param, new RegExp(`^${type}(\\.[a-z_]+|\\[\\d+\\])*$`))
    assert.ok(detailCodes.includes(code))
    assert.match(message, /^.+[.?]$/)
  }
  assert.equal(new Set(details.map((detail) => `${detail.param} ${detail.message}`)).size, details.length)
}

test('any JSON at all is judged without a throw', () => {
  fc.assert(
    fc.property(fc.constantFrom(...entries.map(([type]) => type)), fc.jsonValue(), (type, value) =>
      assertPresentable(type, validate(type, value)),
    ),
    { numRuns: effort(400, 4000) },
  )
})

test('an example with one place spoilt by any JSON is judged without a throw', () => {
  const spoilt = fc.constantFrom(...entries).chain(([type, entry]) => {
    const places = placesOf(shapeOf(entry.schema), entry.example)
    return fc
      .tuple(fc.constant(type), fc.constantFrom(...places), fc.jsonValue())
      .map(([name, place, junk]) => ({ type: name, value: replaced(entry.example, place.path, junk) }))
  })

  fc.assert(
    fc.property(spoilt, ({ type, value }) => assertPresentable(type, validate(type, value))),
    { numRuns: effort(600, 6000) },
  )
})

test('earlier checks have no effect', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...capabilities), fc.jsonValue()), { maxLength: 5 }), (junk) => {
      for (const [type, value] of junk) validateContent(type, value, whatsapp)

      assert.deepEqual(validateContent('text', { body: 'Hi' }, whatsapp), [])
      assert.deepEqual(
        validateContent('text', {}, whatsapp).map((detail) => detail.param),
        ['text.body'],
      )
    }),
  )
})
