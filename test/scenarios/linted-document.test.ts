/** Redocly and Spectral accept the OpenAPI document. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openapiText } from '../../src/openapi.ts'
import { documentProblems } from '../../scripts/lint-document.ts'

test('Redocly and Spectral find nothing in the OpenAPI document', async () => {
  assert.deepEqual(await documentProblems(openapiText()), [])
})

test('problems of another document are reported', async () => {
  const { openapi, info, servers } = JSON.parse(openapiText()) as Record<string, unknown>
  const document = {
    openapi,
    info,
    servers,
    tags: [{ name: 'Twice' }, { name: 'Twice' }],
    paths: {},
  }
  const found = (await documentProblems(JSON.stringify(document))).join('\n')

  assert.match(found, /^redocly /m)
  assert.match(found, /^spectral /m)
})
