import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { responses, serialiser } from './responses.ts'

const Thing = Type.Object({ id: Type.String(), count: Type.Integer() }, { $id: 'Thing' })

test('a reply contains only the fields of its schema', () => {
  const { 200: schema } = responses({ replies: { 200: Thing } })

  assert.equal(serialiser({ schema: schema as object })({ id: 'a', count: 1, secret: 'b' }), '{"id":"a","count":1}')
})

test('the serializer of a schema is compiled once for all routes and servers', () => {
  const of = (status: number) => serialiser({ schema: responses({ replies: { [status]: Thing } })[status] as object })

  assert.equal(of(200), of(201))
})
