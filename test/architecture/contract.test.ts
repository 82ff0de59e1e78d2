/** The OpenAPI document, as type generators read it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import assert from 'node:assert/strict'
import test from 'node:test'
import { capabilities, contentTypes } from '../../src/api/content/registry.ts'
import { eventTypes } from '../../src/api/events.ts'
import { openapiText } from '../../src/openapi.ts'

interface Schema {
  readonly $ref: string
  readonly oneOf?: readonly Schema[]
  readonly properties: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly discriminator: { readonly mapping: Readonly<Record<string, string>> }
}
interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const document = JSON.parse(openapiText()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
const { schemas } = document.components
const nameOf = (ref: string): string => ref.split('/').at(-1)!
const mapped = (union: string) => schemas[union]!.discriminator.mapping
const jsonBody = (operation: Operation): Schema | undefined =>
  operation.requestBody?.content['application/json']?.schema

function checkOf(name: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ ...document, $id: 'openapi' })
  return ajv.compile({ $ref: `openapi#/components/schemas/${name}` })
}

test('a union has one variant for each type, named after its content or resource', () => {
  assert.deepEqual(Object.keys(mapped('SendMessage')), [...capabilities])
  assert.deepEqual(Object.keys(mapped('CampaignMessage')), [...capabilities])
  assert.deepEqual(Object.keys(mapped('AutomationMessage')), [...capabilities])
  assert.deepEqual(Object.keys(mapped('Message')), Object.keys(contentTypes))
  assert.deepEqual(Object.keys(mapped('Event')), Object.keys(eventTypes))
  for (const union of ['SendMessage', 'CampaignMessage', 'AutomationMessage', 'Message', 'Event']) {
    const refs = schemas[union]!.oneOf!.map(({ $ref }) => $ref)
    assert.deepEqual(refs, Object.values(mapped(union)), union)
  }
  for (const [type, ref] of Object.entries(mapped('Event'))) {
    const object = schemas[nameOf(ref)]!.properties['data']!.properties['object']!
    assert.ok(schemas[nameOf(object.$ref)] !== undefined, type)
    assert.equal(jsonBody(document.webhooks[type]!.post)!.$ref, ref)
  }
})

test('the document refuses a message with a misspelt type or field, or missing or wrong content', () => {
  const check = checkOf('SendMessage')
  const message = { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } }

  assert.ok(check(message), JSON.stringify(check.errors))
  assert.ok(!check({ ...message, type: 'txet' }))
  assert.ok(!check({ ...message, txt: { body: 'Hello' } }))
  assert.ok(!check({ ...message, text: undefined }))
  assert.ok(
    !check({ channel: 'ch_test_sms', to: '+15005550006', type: 'text', location: contentTypes.location.example }),
  )
  assert.ok(!check({ ...message, text: { bdy: 'Hello' } }))
})

test('a simulated inbound message has the content that its type names; a text needs no type', () => {
  const check = checkOf('InboundMessage')
  const from = { channel: 'ch_test_sms', from: '+15005550100' }

  for (const type of Object.keys(contentTypes).filter((each) => each !== 'template'))
    assert.ok(check({ ...from, type, [type]: contentTypes[type as keyof typeof contentTypes].example }), type)
  assert.ok(check({ ...from, text: { body: 'Hello' } }))
  assert.ok(!check({ ...from, type: 'location', text: { body: 'Hello' } }))
  assert.ok(!check({ ...from, location: contentTypes.location.example }))
  assert.ok(!check({ ...from, type: 'txet', text: { body: 'Hello' } }))
})

test('a campaign message may have merge tags only in values that are limited after rendering', () => {
  const check = checkOf('CampaignMessage')
  const body = { text: 'Look' }

  assert.ok(
    check({
      type: 'cta_url',
      cta_url: {
        body,
        action: { parameters: { display_text: 'Go, {{attributes.what_you_wanted}}', url: '{{attributes.url}}' } },
      },
    }),
  )
  assert.ok(!check({ type: 'cta_url', text: { body: 'Hello' } }))
})

test('the body of every request is closed, except for formats of other services', () => {
  const open: string[] = []
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      const schema = jsonBody(operation)
      if (schema !== undefined && !isClosed(schema)) open.push(`${method} ${path}`)
    }

  assert.deepEqual(open, ['post /v1/ingest/{platform}/{source_id}'])
})

function isClosed(schema: Schema): boolean {
  if (schema.$ref !== undefined) return isClosed(schemas[nameOf(schema.$ref)]!)
  return schema.oneOf === undefined ? schema.additionalProperties === false : schema.oneOf.every(isClosed)
}

test('enumerations in answers are open', () => {
  const closed: string[] = []
  const walk = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray((value as { enum?: unknown }).enum)) closed.push(where)
    for (const [key, inner] of Object.entries(value))
      if (key !== 'examples' && key !== 'example') walk(inner, `${where}/${key}`)
  }
  for (const name of [
    'MessageFields',
    'Channel',
    'Campaign',
    'Automation',
    'WebhookEndpoint',
    'WebhookDelivery',
    'Package',
    'ApiError',
    'ErrorBody',
    ...eventNames(),
  ])
    walk(schemas[name], name)

  assert.deepEqual(closed, [])
})

const eventNames = (): string[] => Object.values(mapped('Event')).map(nameOf)

interface Described {
  readonly description?: string
  readonly name?: string
  readonly example?: unknown
}

function objectsIn(
  value: unknown,
  where: string,
): (readonly [where: string, properties: Record<string, Record<string, unknown>>, inContent: boolean])[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, entry]) =>
    key === 'examples' || key === 'example' ? [] : objectsIn(entry, `${where}/${key}`),
  )
  const { properties } = value as { properties?: Record<string, Record<string, unknown>> }
  return properties === undefined || where.endsWith('/properties')
    ? inner
    : [[where, properties, /Content(\/|$)/.test(where)], ...inner]
}

test('every property has a description, and an example if its type is not enough', () => {
  const speaking = ['$ref', 'examples', 'const', 'enum', 'x-extensible-enum', 'default', 'properties', 'oneOf', 'anyOf']
  const silent: string[] = []
  for (const [where, properties, inContent] of objectsIn(
    { schemas, paths: document.paths, webhooks: document.webhooks },
    '',
  )) {
    for (const [name, schema] of Object.entries(properties)) {
      if (schema['$ref'] === undefined && String(schema['description'] ?? '').length < 5)
        silent.push(`${where} ${name}: no description`)
      const types = [schema['type']].flat()
      const plain =
        types.includes('object') || types.includes('boolean') || isOfObjects(schema['items'] as Schema | undefined)
      // a content object is shown as a whole
      if (!plain && !inContent && !speaking.some((keyword) => schema[keyword] !== undefined))
        silent.push(`${where} ${name}: no example`)
      if (JSON.stringify(schema['examples'] ?? '').includes('"string"'))
        silent.push(`${where} ${name}: an example that says nothing`)
    }
  }

  assert.deepEqual(silent, [])
})

const isOfObjects = (items: Schema | undefined): boolean => items?.$ref !== undefined || items?.properties !== undefined

test('every operation and parameter has a description, and every parameter an example', () => {
  const silent: string[] = []
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations) as [
      string,
      Operation & Described & { readonly parameters: readonly Described[] },
    ][]) {
      if ((operation.description ?? '').length < 10) silent.push(`${method} ${path}`)
      for (const { name, description, example } of operation.parameters) {
        if ((description ?? '').length < 5) silent.push(`${method} ${path} ${name}: no description`)
        if (example === undefined || example === null || example === 'string')
          silent.push(`${method} ${path} ${name}: no example`)
      }
    }

  assert.deepEqual(silent, [])
})

test('an operation with a 304 accepts If-None-Match, and answers with an ETag', () => {
  interface Cached {
    readonly operationId: string
    readonly parameters: readonly { readonly name: string; readonly in: string }[]
    readonly responses: Readonly<Record<string, { readonly headers?: Readonly<Record<string, unknown>> }>>
  }
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods) as unknown as Cached[])
  const cached = operations.filter(({ responses }) => responses['304'] !== undefined)

  assert.deepEqual(
    cached.map(({ operationId, parameters, responses }) => [
      operationId,
      parameters.some((parameter) => parameter.name === 'If-None-Match' && parameter.in === 'header'),
      ['200', '304'].every((status) => responses[status]!.headers?.['ETag'] !== undefined),
    ]),
    [
      ['integration_sources.retrieve_current', true, true],
      ['integration_sources.retrieve', true, true],
    ],
  )
})
