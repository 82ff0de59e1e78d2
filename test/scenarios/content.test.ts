/** Message content through the API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { contentReference } from '../../src/api/content/reference.ts'
import { capabilities } from '../../src/api/content/registry.ts'
import type { Detail } from '../../src/api/errors.ts'
import type { Answered } from '../support/api.ts'
import { wrongContents } from '../support/wrong-contents.ts'
import { startWorld } from '../support/world.ts'
import { effort } from '../support/effort.ts'

const head = { channel: 'ch_test_whatsapp', to: '+15005550006' }
const text = (body: string) => ({ ...head, type: 'text', text: { body } })
const sendable = contentReference().filter((one) => one.direction === 'both')
/** Every wrong content that JSON can express. */
const wrong = wrongContents.filter(([, value]) => isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value))

interface BatchItem {
  readonly index: number
  readonly status: number
  readonly message?: { readonly id: string; readonly content: Record<string, unknown> }
  readonly error?: {
    readonly type: string
    readonly code: string
    readonly param?: string
    readonly details?: readonly Detail[]
    readonly request_id: string
  }
}
const itemsOf = (answer: Answered): readonly BatchItem[] => answer.body.data
const said = (error: { details?: readonly Detail[] } | undefined) =>
  (error?.details ?? []).map((detail) => `${detail.param} ${detail.code}`)
const codeFor = (expected: readonly string[]) =>
  expected.every((one) => one.endsWith(' missing_field')) ? 'parameter_missing' : 'parameter_invalid'

test('the example of each content type is accepted, comes back unchanged and is delivered', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const sent = []
  for (const { type, request } of sendable) {
    const answer = await api.post(request.path, request.body)
    assert.equal(answer.status, 202, `${type}: ${JSON.stringify(answer.body)}`)
    assert.equal(answer.body.status, 'queued')
    assert.deepEqual(answer.body.content, { [type]: request.body[type] })
    sent.push({ id: answer.body.id as string, type, content: answer.body.content as unknown })
  }
  await world.settle()

  for (const { id, type, content } of sent) {
    const { body } = await api.get(`/v1/messages/${id}`)
    assert.deepEqual([body.type, body.content, body.status], [type, content, 'delivered'])
  }
})

test('each refused example of a content page is refused with the shown text', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const { type, request, refusal } of sendable) {
    const empty = Array.isArray(request.body[type]) ? [{}] : {}
    const { status, body } = await api.post('/v1/messages', { ...head, type, [type]: empty })

    assert.deepEqual(
      [status, body.error.code, body.error.param, body.error.message],
      [400, 'parameter_missing', refusal[0]!.param, refusal[0]!.message],
    )
    assert.deepEqual(body.error.details, refusal)
  }
})

test('each wrong shape is a 400 with every path and code, alone and in a batch', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const [type, value, ...expected] of wrong) {
    const { status, body } = await api.post('/v1/messages', { ...head, type, [type]: value })
    assert.deepEqual(
      [status, body.error.type, body.error.code, said(body.error)],
      [400, 'invalid_request_error', codeFor(expected), expected],
    )
    assert.equal(body.error.param, expected[0]!.split(' ')[0])
  }
  for (let start = 0; start < wrong.length; start += 100) {
    const part = wrong.slice(start, start + 100)
    const answer = await api.post('/v1/messages/batch', {
      messages: part.map(([type, value]) => ({ ...head, type, [type]: value })),
    })
    assert.deepEqual([answer.status, answer.body.accepted, answer.body.rejected], [207, 0, part.length])
    for (const [i, [, , ...expected]] of part.entries()) {
      const item = itemsOf(answer)[i]!
      assert.deepEqual(
        [item.index, item.status, item.error?.code, said(item.error)],
        [i, 400, codeFor(expected), expected],
      )
    }
  }
  assert.deepEqual((await api.get('/v1/messages')).body.data, [])
})

test('a missing content object is reported under the name of its type', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const type of capabilities) {
    const { status, body } = await api.post('/v1/messages', { ...head, type })
    assert.deepEqual(
      [status, body.error.code, body.error.param, said(body.error)],
      [400, 'parameter_missing', type, [`${type} missing_field`]],
    )
  }
})

test('errors of content and recipient are reported together', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const { body } = await api.post('/v1/messages', { ...head, to: '015005550006', type: 'text', text: {} })

  assert.equal(body.error.code, 'parameter_invalid')
  assert.deepEqual(said(body.error).toSorted(), ['text.body missing_field', 'to invalid_format'])
})

test('content objects of other types are ignored, however wrong they are', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const { status, body, headers } = await api.post('/v1/messages', {
    ...text('Hi'),
    button: 7,
    location: { latitude: 'north' },
    attachments: [],
  })

  assert.deepEqual([status, body.content], [202, { text: { body: 'Hi' } }])
  assert.equal(headers['service-ignored-fields'], undefined)
})

test('unknown fields inside a content object are kept, in their order and as they are written', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const content = {
    zebra: 1,
    body: 'Hi 👋\n',
    preview_url: true,
    nested: { b: [null, 0.1, -0, 'ü'], a: {} },
    alpha: 'x',
  }

  const { status, body } = await api.post('/v1/messages', { ...head, type: 'text', text: content })
  const read = await api.get(`/v1/messages/${body.id}`)

  assert.equal(status, 202)
  assert.equal(JSON.stringify(body.content.text), JSON.stringify(content))
  assert.equal(JSON.stringify(read.body.content.text), JSON.stringify(content))
})

test('sms accepts only text, of at most 1600 characters, and reports its parts', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const sms = { channel: 'ch_test_sms', to: '+15005550006' }

  for (const { type, request } of sendable.filter((one) => one.type !== 'text')) {
    const { status, body } = await api.post('/v1/messages', { ...sms, type, [type]: request.body[type] })
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'unsupported_message_type', 'type'], type)
  }
  const tooLong = await api.post('/v1/messages', { ...sms, type: 'text', text: { body: 'x'.repeat(1601) } })
  const long = await api.post('/v1/messages', { ...sms, type: 'text', text: { body: '€'.repeat(1600) } })
  const emoji = await api.post('/v1/messages', { ...sms, type: 'text', text: { body: '😀'.repeat(36) } })

  assert.deepEqual([tooLong.status, said(tooLong.body.error)], [400, ['text.body too_long']])
  assert.deepEqual([long.status, long.body.encoding, long.body.segments], [202, 'gsm7', 22])
  assert.deepEqual([emoji.status, emoji.body.encoding, emoji.body.segments], [202, 'ucs2', 2])
})

test('a type of no channel, and an inbound-only type, are unsupported', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  for (const type of ['fax', 'reaction', 'button_reply', 'constructor', '__proto__']) {
    const { status, body } = await api.post('/v1/messages', { ...head, type, [type]: {} })
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'unsupported_message_type', 'type'], type)
  }
})

test('batch items are independent, with error paths that begin at the item', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const answer = await api.post('/v1/messages/batch', {
    messages: [
      text('first'),
      { ...head, type: 'text' },
      { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'by sms' } },
      null,
      [text('in an array')],
      'text',
      { ...text('no one'), to: undefined },
      { ...text('elsewhere'), channel: 'ch_test_fax' },
      {
        ...head,
        type: 'button',
        button: { body: { text: 'Hi' }, action: { buttons: [{ reply: { id: 'a', title: '' } }] } },
      },
      { ...text('blocked'), to: '+15005550004' },
      text('last'),
    ],
  })

  assert.deepEqual(
    [answer.status, answer.body.object, answer.body.accepted, answer.body.rejected],
    [207, 'batch', 3, 8],
  )
  assert.deepEqual(
    itemsOf(answer).map((item) => [item.index, item.status, item.error?.code, ...said(item.error)]),
    [
      [0, 202, undefined],
      [1, 400, 'parameter_missing', 'text missing_field'],
      [2, 202, undefined],
      ...[3, 4, 5].map((i) => [i, 400, 'parameter_invalid', ...said(itemsOf(answer)[i]!.error)]),
      [6, 400, 'parameter_missing', 'to missing_field'],
      [7, 404, 'resource_missing'],
      [8, 400, 'parameter_invalid', 'button.action.buttons[0].reply.title too_short'],
      [9, 422, 'recipient_blocked'],
      [10, 202, undefined],
    ],
  )
  for (const item of itemsOf(answer))
    if (item.error !== undefined) assert.equal(item.error.request_id, answer.headers['x-request-id'])
  assert.equal((await api.get('/v1/messages')).body.data.length, 3)
})

test('each inbound type can be simulated, and a wrong one is named', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const sender = { channel: 'ch_test_whatsapp', from: '+4915112345678' }

  const incoming = contentReference().filter(
    (one) => one.direction === 'inbound' || ['text', 'attachments', 'location', 'contacts'].includes(one.type),
  )

  for (const { type, request } of incoming) {
    const came = await api.post('/v1/test/inbound_messages', { ...sender, type, [type]: request.body[type] })
    const wrongType = await api.post('/v1/test/inbound_messages', { ...sender, type, [type]: 7 })
    const absent = await api.post('/v1/test/inbound_messages', { ...sender, type })

    assert.deepEqual(
      [came.status, came.body.direction, came.body.status, came.body.type, came.body.content],
      [201, 'inbound', 'received', type, { [type]: request.body[type] }],
    )
    assert.deepEqual(
      [wrongType.status, wrongType.body.error.code, wrongType.body.error.param],
      [400, 'parameter_invalid', type],
    )
    assert.deepEqual([absent.status, absent.body.error.code, absent.body.error.param], [400, 'parameter_missing', type])
  }
})

test('a batch item that the database refuses does not affect the others', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const part = (body: string) =>
    `{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":${body}}}`
  const poisons = [
    part('"a\\u0000b"'),
    part('"half a pair \\ud83d"'),
    part('1e999'),
    `{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"deep","more":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
    `{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"key"},"metadata":{"\\u0000":1}}`,
    `{"channel":"ch_test_whatsapp\\u0000","to":"+15005550006","type":"text","text":{"body":"channel"}}`,
    `{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"reference"},"reference":"\\udc00"}`,
  ]

  const answer = await api.post(
    '/v1/messages/batch',
    `{"messages":[${[part('"first"'), ...poisons, part('"last"')].join(',')}]}`,
    {
      'idempotency-key': 'poison',
    },
  )

  assert.deepEqual([answer.status, answer.body.accepted, answer.body.rejected], [207, 2, poisons.length])
  assert.deepEqual(
    itemsOf(answer).map((item) => [item.status, item.error?.code, item.error?.param?.slice(0, 9)]),
    [
      [202, undefined, undefined],
      [400, 'parameter_invalid', 'text.body'],
      [400, 'parameter_invalid', 'text.body'],
      [400, 'parameter_invalid', 'text.body'],
      [400, 'parameter_invalid', 'text.more'],
      [400, 'parameter_invalid', 'metadata['.slice(0, 9)],
      [400, 'parameter_invalid', 'channel'],
      [400, 'parameter_invalid', 'reference'],
      [202, undefined, undefined],
    ],
  )
})

test('a message that cannot be stored is refused with the invalid field', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const nul = await api.post('/v1/messages', text('a\0b'))
  const half = await api.post('/v1/messages', text('\ud83d'))
  const infinite = await api.post(
    '/v1/messages',
    '{"channel":"ch_test_whatsapp","to":"+15005550006","type":"location","location":{"latitude":1e999,"longitude":0}}',
  )

  assert.deepEqual([nul.status, nul.body.error.code, nul.body.error.param], [400, 'parameter_invalid', 'text.body'])
  assert.deepEqual([half.status, half.body.error.code, half.body.error.param], [400, 'parameter_invalid', 'text.body'])
  assert.deepEqual(
    [infinite.status, infinite.body.error.code, infinite.body.error.param],
    [400, 'parameter_invalid', 'location.latitude'],
  )
})

test('whatever the type contains, the answer is 202, 207 or 400', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const junk = fc.array(fc.tuple(fc.constantFrom(...capabilities), fc.jsonValue({ stringUnit: 'binary' })), {
    minLength: 1,
    maxLength: 20,
  })

  await fc.assert(
    fc.asyncProperty(junk, async (contents) => {
      const messages = contents.map(([type, value]) => ({ ...head, type, [type]: value }))
      const [single, batch] = await Promise.all([
        api.post('/v1/messages', messages[0]),
        api.post('/v1/messages/batch', { messages }),
      ])

      assert.ok([202, 400].includes(single.status), JSON.stringify(single.body))
      assert.equal(batch.status, 207)
      for (const item of itemsOf(batch)) assert.ok([202, 400].includes(item.status), JSON.stringify(item))
    }),
    { numRuns: effort(20, 100) },
  )
})

test('every content type is documented in the pages and in the OpenAPI document', async (t) => {
  const world = await startWorld(t)
  const anyone = world.api()

  const page = await anyone.get('/docs/content')
  const reference = await anyone.get('/docs/api/messages.send')
  const document = (await anyone.get('/docs/openapi.json')).body
  const { schemas } = document.components
  const variants = schemas.SendMessage.discriminator.mapping

  for (const { type, direction, request, fields } of contentReference()) {
    const own = await anyone.get(`/docs/content/${type}`)
    assert.ok(page.body.includes(`<dt id="${type}" data-moved><a href="/docs/content/${type}">`), type)
    for (const { path } of fields) assert.ok(own.body.includes(`<code>${path}</code>`), path)
    if (direction === 'inbound') continue
    const variant = schemas[variants[type].split('/').at(-1)]
    const schema = schemas[variant.properties[type].$ref.split('/').at(-1)]
    assert.deepEqual(schema.examples, [request.body[type]])
    assert.ok(reference.body.includes(`href="/docs/content/${type}"`), type)
  }
})
