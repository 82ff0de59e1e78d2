/** The document of the console's own operations matches its guards (behaviour: console 2). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { consoleErrorCatalogue } from '../../src/api/console-errors.ts'

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string }[]
  readonly responses: Readonly<Record<string, { readonly headers?: object; readonly 'x-codes'?: readonly string[] }>>
}

const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../../console-openapi.json'), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const operations = Object.values(paths).flatMap((methods) => Object.entries(methods))
const codesOf = ({ responses }: Operation): string[] =>
  Object.values(responses).flatMap((answer) => answer['x-codes'] ?? [])
const ofKeys = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
  'ip_not_allowed',
  'scope_missing',
]

test('no operation of the console has error codes of API keys, and every change has the console header', () => {
  const wrong = operations.filter(
    ([method, operation]) =>
      codesOf(operation).some((code) => ofKeys.includes(code)) ||
      codesOf(operation).includes('csrf_header_missing') !== (method !== 'get'),
  )

  assert.deepEqual(
    wrong.map(([, { operationId }]) => operationId),
    [],
  )
})

test('an Idempotency-Key is offered exactly where it can be stored', () => {
  for (const [method, operation] of operations) {
    const offers = [
      operation.parameters.some(({ name }) => name === 'Idempotency-Key'),
      codesOf(operation).includes('idempotency_key_reused'),
      Object.values(operation.responses).some(
        ({ headers }) => headers !== undefined && 'Idempotent-Replayed' in headers,
      ),
    ]
    const expected = method === 'post' && codesOf(operation).includes('account_suspended')
    assert.deepEqual(offers, [expected, expected, expected], operation.operationId)
  }
})

test('every error code of the console is declared by an operation', () => {
  const named = new Set(operations.flatMap(([, operation]) => codesOf(operation)))
  // of the payment provider's callback, which is not an operation of the console
  const unnamed = Object.keys(consoleErrorCatalogue).filter((code) => code !== 'signature_invalid' && !named.has(code))

  assert.deepEqual(unnamed, [])
})
