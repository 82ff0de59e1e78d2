/** What the linters of OpenAPI documents ask of ours. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { openapiText } from '../../src/openapi.ts'
import { documentProblems } from '../../scripts/lint-document.ts'

test('Redocly and Spectral find nothing in the OpenAPI document', async () => {
  assert.deepEqual(await documentProblems(openapiText()), [])
})

test('what they find in another document is told', async () => {
  const document = {
    ...(JSON.parse(openapiText()) as object),
    tags: [{ name: 'Twice' }, { name: 'Twice' }],
    paths: {},
    webhooks: {},
  }
  const found = (await documentProblems(JSON.stringify(document))).join('\n')

  assert.match(found, /^redocly /m)
  assert.match(found, /^spectral /m)
})
