import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  carousel,
  items,
  list,
  productList,
  replyCard,
  rows,
  urlCard,
  wrongContents,
} from '../../../test/support/wrong-contents.ts'
import type { Detail } from '../errors.ts'
import type { ContentType } from './content-type.ts'
import { capabilities, contentTypes, isCapability, isContentType } from './registry.ts'
import { validateContent, validateInboundContent } from './validate.ts'

const whatsapp = { channel_type: 'whatsapp' }
const found = (details: readonly Detail[]) => details.map((detail) => `${detail.param} ${detail.code}`)

test('every example is valid, and a valid value answers the one empty list', () => {
  const none = validateContent('text', { body: 'Hi' }, whatsapp)
  for (const [type, entry] of Object.entries<ContentType>(contentTypes)) {
    if (entry.direction === 'both') assert.equal(validateContent(type, entry.example, whatsapp), none, type)
    assert.equal(validateInboundContent(type, entry.example), none, type)
  }
})

test('capabilities are the types that can be sent, in the order of the table', () => {
  const sendable = Object.entries<ContentType>(contentTypes).filter(([, entry]) => entry.direction === 'both')

  assert.deepEqual(
    capabilities,
    sendable.map(([type]) => type),
  )
  assert.equal(isCapability('order'), false)
  assert.equal(isContentType('constructor'), false)
})

test('a type that cannot be sent is refused at `type`', () => {
  for (const type of ['order', 'fax', '', 'constructor', '__proto__'])
    assert.deepEqual(found(validateContent(type, {}, whatsapp)), ['type invalid_value'])
  assert.deepEqual(found(validateInboundContent('fax', {})), ['type invalid_value'])
})

test('an absent content object is a missing field at the name of the type', () => {
  for (const type of capabilities)
    assert.deepEqual(found(validateContent(type, undefined, whatsapp)), [`${type} missing_field`])
  assert.deepEqual(found(validateInboundContent('button_reply', undefined)), ['button_reply missing_field'])
})

test('paths start at the position of the content', () => {
  assert.deepEqual(found(validateContent('text', {}, { channel_type: 'sms', path: 'message.text' })), [
    'message.text.body missing_field',
  ])
  assert.deepEqual(found(validateContent('attachments', [{}], { channel_type: 'sms', path: 'a[1].attachments' })), [
    'a[1].attachments[0].type missing_field',
    'a[1].attachments[0].url missing_field',
  ])
})

test('lengths count code points, not UTF-16 units', () => {
  assert.deepEqual(validateContent('text', { body: '😀'.repeat(4096) }, whatsapp), [])
  assert.deepEqual(found(validateContent('text', { body: '😀'.repeat(4097) }, whatsapp)), ['text.body too_long'])
  assert.deepEqual(validateContent('text', { body: '😀'.repeat(1600) }, { channel_type: 'sms' }), [])
})

test('the SMS limit applies, regardless of earlier checks', () => {
  const long = { body: 'x'.repeat(1601) }

  assert.deepEqual(validateContent('text', long, { channel_type: 'sms' }), [
    { param: 'text.body', code: 'too_long', message: '`text.body` has 1601 characters; shorten it to at most 1600.' },
  ])
  assert.deepEqual(validateContent('text', long, whatsapp), [])
  assert.deepEqual(validateInboundContent('text', { body: 'x'.repeat(20_000) }), [])
})

test('unknown fields inside pass, and null is an absent optional field', () => {
  assert.deepEqual(validateContent('text', { body: 'Hi', preview_url: true }, whatsapp), [])
  assert.deepEqual(
    validateContent('location', { latitude: 0, longitude: 0, name: null, address: null, url: 7 }, whatsapp),
    [],
  )
  assert.deepEqual(
    validateContent(
      'button',
      {
        header: null,
        footer: null,
        body: { text: 'Hi' },
        action: { buttons: [{ type: 'reply', reply: { id: 'a', title: 'A' } }] },
      },
      whatsapp,
    ),
    [],
  )
})

test('a flood of failures is counted up to a thousand', () => {
  assert.equal(
    validateContent('template', { name: 'a', language: { code: 'en' }, components: Array(1_900).fill(7) }, whatsapp)
      .length,
    1000,
  )
})

test('inbound media may have an http address, outbound media may not', () => {
  const picture = [{ type: 'image', url: 'http://localhost:8080/media/1' }]

  assert.deepEqual(validateInboundContent('attachments', picture), [])
  assert.deepEqual(found(validateContent('attachments', picture, whatsapp)), ['attachments[0].url invalid_format'])
})

for (const [type, value, ...expected] of wrongContents) {
  test(`${type} is refused: ${expected.join(', ')}`, () => {
    assert.deepEqual(found(validateContent(type, value, whatsapp)), expected)
  })
}

test('a carousel of reply buttons is as good as one of addresses', () => {
  assert.deepEqual(validateContent('carousel', carousel(replyCard('a', 'b'), replyCard('a', 'b')), whatsapp), [])
})

test('limits are met exactly: ten rows over ten sections, thirty products, ten cards', () => {
  assert.deepEqual(
    validateContent(
      'list',
      list(Array.from({ length: 10 }, (_, i) => ({ title: 'S', rows: rows(1, `${i}-`) }))),
      whatsapp,
    ),
    [],
  )
  assert.deepEqual(validateContent('product_list', productList([{ product_items: items(30) }]), whatsapp), [])
  assert.deepEqual(validateContent('carousel', carousel(...Array<unknown>(10).fill(urlCard)), whatsapp), [])
})
