/** Generates the types `paths`, `operations` and `components` for `openapi-fetch`, which the console uses. */
import { declaration, type Schema, typeOf } from './gen-typescript-types.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Operation {
  readonly operationId?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

export interface PathsDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Without headers and error responses. */
export function pathTypes({ paths, components }: PathsDocument): string {
  const schemas = Object.entries(components.schemas)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      operation,
      name: operation.operationId ?? `${method} ${path}`,
    })),
  )
  return [
    ...schemas.map(([name, schema]) => declaration(name, simplified(schema))),
    `export interface components {\n  schemas: {\n${schemas.map(([name]) => `    ${name}: ${name}\n`).join('')}  }\n}\n`,
    `export interface operations {\n${operations.map(({ name, operation }) => `  '${name}': ${operationType(operation)}\n`).join('')}}\n`,
    `export interface paths {\n${Object.entries(paths)
      .map(([path]) => {
        const own = operations.filter((each) => each.path === path)
        return `  '${path}': {\n${own.map(({ method, name }) => `    ${method}: operations['${name}']\n`).join('')}  }\n`
      })
      .join('')}}\n`,
  ].join('\n')
}

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const kinds = ['query', 'path'].map((kind) => parametersType(kind, parameters))
  const body =
    requestBody === undefined
      ? 'requestBody?: never'
      : `requestBody${requestBody.required === true ? '' : '?'}: { content: ${contentType(requestBody.content)} }`
  const successes = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { content }]) => {
      const type = content === undefined ? 'content?: never' : `content: ${contentType(content)}`
      return `${status}: { headers: { [name: string]: unknown }; ${type} }`
    })
  return `{
    parameters: { ${kinds.join('; ')}; header?: never; cookie?: never }
    ${body}
    responses: { ${successes.join('; ')} }
  }`
}

function parametersType(kind: string, parameters: readonly Parameter[]): string {
  const own = parameters.filter((parameter) => parameter.in === kind)
  if (own.length === 0) return `${kind}?: never`
  const isOptional = own.every(({ required }) => required !== true)
  const fields = own.map(
    ({ name, required, schema }) => `'${name}'${required === true ? '' : '?'}: ${typeOf(simplified(schema), '      ')}`,
  )
  return `${kind}${isOptional ? '?' : ''}: { ${fields.join('; ')} }`
}

const contentType = (content: Content): string =>
  `{ ${Object.entries(content)
    .map(([type, { schema }]) => `'${type}': ${typeOf(simplified(schema), '      ')}`)
    .join('; ')} }`

/** Descriptions, for size, and known values: `openapi-fetch` cannot map the type `'a' | (string & {})`. */
const dropped = new Set(['description', 'x-extensible-enum'])

function simplified<T>(value: T, isNames = false): T {
  if (Array.isArray(value)) return value.map((item: unknown) => simplified(item)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => isNames || !dropped.has(key))
      .map(([key, inner]) => [key, simplified(inner as unknown, key === 'properties' && !isNames)]),
  ) as T
}
