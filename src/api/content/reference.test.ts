import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DocumentedSendMessage } from './documented.ts'
import { contentPages, contentReference } from './reference.ts'
import { contentTypes } from './registry.ts'
import { validateContent, validateInboundContent } from './validate.ts'

test('there is a page for each content type, and an index that links them all', () => {
  const pages = contentPages()
  const index = pages['docs/reference/content/README.md']!

  assert.equal(Object.keys(pages).length, Object.keys(contentTypes).length + 1)
  for (const type of Object.keys(contentTypes)) {
    assert.match(pages[`docs/reference/content/${type}.md`]!, new RegExp(`^# \`${type}\`$`, 'm'))
    assert.ok(index.includes(`(${type}.md)`), type)
  }
})

test('the request of each page is accepted, and its error is what the service responds', () => {
  for (const { type, direction, request, refusal } of contentReference()) {
    const content = request.body[type]
    if (direction === 'inbound') {
      assert.deepEqual(validateInboundContent(type, content), [], type)
    } else {
      assert.deepEqual(validateContent(type, content, { channel_type: 'whatsapp' }), [], type)
      assert.ok(refusal.length > 0, type)
    }
    assert.ok(
      contentPages()[`docs/reference/content/${type}.md`]!.includes(JSON.stringify(request.body, null, 2)),
      type,
    )
  }
})

test('every field is described, and each path is one that an error can name', () => {
  for (const { fields } of contentReference()) {
    for (const field of fields) {
      assert.match(field.path, /^[a-z_]+(\[\])?((\.[a-z_]+)(\[\])?)*$/)
      assert.match(field.description, /^.+\.$/, field.path)
      assert.ok(field.holds.length > 0)
    }
  }
})

function pathsOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item) => pathsOf(item, `${path}[]`))]
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, `${path}.${name}`))]
}

test('each example shows every field, except alternatives to others', () => {
  const insteadOfOthers = /header\.(text|url|filename)$|\.flow_name$|^carousel\.cards\[\]\.action\.buttons/
  for (const { type, fields, request } of contentReference()) {
    const shown = pathsOf(request.body[type], type)
    for (const { path } of fields) assert.ok(shown.includes(path) || insteadOfOthers.test(path), path)
  }
})

test('a channel type with its own limit is listed separately', () => {
  const text = contentReference().find((one) => one.type === 'text')!

  assert.deepEqual(
    text.channels.map((one) => [one.channel_type, one.fields.map((field) => field.holds)]),
    [['sms', ['a string of 1 to 1600 characters']]],
  )
})

test('inbound content is listed separately where outbound limits do not apply', () => {
  const wider = contentReference().filter(({ inbound }) => inbound.length > 0)

  assert.deepEqual(
    wider.map(({ type }) => type),
    ['text', 'attachments', 'contacts'],
  )
  assert.deepEqual(
    wider[0]!.inbound.map(({ holds }) => holds),
    ['a string of at most 65536 characters'],
  )
  assert.match(contentPages()['docs/reference/content/text.md']!, /Of a message that comes in:/)
  assert.match(JSON.stringify(DocumentedSendMessage.properties), /Inbound content may exceed these limits/)
})
