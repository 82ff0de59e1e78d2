/** Checks every answer of the tests against `openapi.json`. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answered } from './api.ts'

interface Declared {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>
  readonly 'x-codes'?: readonly string[]
}
interface Operation {
  readonly path: string
  readonly responses: Readonly<Record<string, Declared>>
}

const telling = /^(ratelimit-|idempotent-|service-|retry-after$|x-request-id$|etag$)/

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'path'>>>>>
}

function read(name: string) {
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../..', name), 'utf8')) as Document
  const patterns = Object.keys(document.paths)
    .toSorted((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map((path) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`), path] as const)
  return { document, patterns }
}

function operationIn(
  { document, patterns }: ReturnType<typeof read>,
  method: string,
  path: string,
): Operation | undefined {
  for (const [pattern, template] of patterns) {
    const operation = pattern.test(path) ? document.paths[template]![method.toLowerCase()] : undefined
    if (operation !== undefined) return { path: template, responses: operation.responses }
  }
  return undefined
}

let known: ReturnType<typeof load> | undefined
let ofConsole: ReturnType<typeof read> | undefined

function load() {
  const { document, patterns } = read('openapi.json')
  // without inlining and optimizing, compiling all responses takes a fifth of the time
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false, code: { optimize: false } })
  // clients accept unknown values, but this version must not send them
  ajv.addKeyword({
    keyword: 'x-extensible-enum',
    schemaType: 'array',
    validate: (values: unknown[], value: unknown) => value === null || values.includes(value),
  })
  ajv.addSchema({ ...document, $id: 'openapi' })
  return { document, ajv, patterns, validators: new Map<string, ValidateFunction>() }
}

export const operationAt = (method: string, path: string): Operation | undefined =>
  operationIn((known ??= load()), method, path)

/** Throws unless `console-openapi.json` declares status and code. */
export function assertConsoleRefusal(method: string, path: string, { status, body }: Answered): void {
  const operation = operationIn((ofConsole ??= read('console-openapi.json')), method, path.split('?', 1)[0]!)
  if (operation === undefined) return
  const code = (body as { error?: { code?: string } }).error?.code ?? ''
  assert.ok(
    operation.responses[status]?.['x-codes']?.includes(code),
    `${method} ${path} answered ${status} ${code}, which console-openapi.json does not declare`,
  )
}

function validatorOf(method: string, { path, responses }: Operation, status: number): ValidateFunction {
  const { ajv, validators } = (known ??= load())
  const media = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json']
  const pointer = [...media, 'schema'].map((step) =>
    encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
  )
  // most responses are the error or one resource: each is compiled once
  const ref = `openapi${responses[status]?.content?.['application/json']?.schema?.$ref ?? `#/${pointer.join('/')}`}`
  let validate = validators.get(ref)
  if (validate === undefined) validators.set(ref, (validate = ajv.compile({ $ref: ref })))
  return validate
}

/** Throws unless the document declares the answer. */
export function assertDocumented(method: string, path: string, answer: Answered): void {
  if (!path.startsWith('/v1/')) return
  const operation = operationAt(method, path)
  if (operation === undefined) return
  const { status, headers, body } = answer
  const what = `${method} ${path} answered ${status}`
  const declared = operation.responses[status]
  assert.ok(declared !== undefined, `${what}, which openapi.json does not declare`)
  const names = Object.keys(declared.headers ?? {}).map((name) => name.toLowerCase())
  for (const name of Object.keys(headers))
    if (telling.test(name))
      assert.ok(names.includes(name), `${what} with the header ${name}, which it does not declare`)
  if (status >= 400) {
    const { code } = body.error
    assert.ok(declared['x-codes']?.includes(code), `${what} with the code ${code}, which it does not declare`)
  }
  if (declared.content?.['application/json'] === undefined) return
  const type = headers['content-type']?.split(';')[0] ?? ''
  if (type !== 'application/json')
    return assert.ok(declared.content[type] !== undefined, `${what} with ${type}, which it does not declare`)
  const validate = validatorOf(method, operation, status)
  assert.ok(validate(body), `${what}, not as it declares: ${JSON.stringify(validate.errors?.slice(0, 3))}`)
}
