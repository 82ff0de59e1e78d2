import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { responses, serialiser } from './responses.ts'

const Thing = Type.Object({ id: Type.String(), count: Type.Integer() }, { $id: 'Thing' })

test('a reply has what its schema declares and nothing else', () => {
  const { 200: schema } = responses({ replies: { 200: Thing } })

  assert.equal(serialiser({ schema: schema as object })({ id: 'a', count: 1, secret: 'b' }), '{"id":"a","count":1}')
})

test('what writes the replies of a schema is made once, whatever routes and servers have it', () => {
  const of = (status: number) => serialiser({ schema: responses({ replies: { [status]: Thing } })[status] as object })

  assert.equal(of(200), of(201))
})
