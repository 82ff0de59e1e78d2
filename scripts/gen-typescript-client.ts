/** Generates types and operations of the TypeScript client from the OpenAPI document. */
import { camelCase, pascalCase } from '../src/docs/client-names.ts'
import { comment, declaration, type Schema, typeOf } from './gen-typescript-types.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

const eventTypesOf = ({ components }: Document): string[] =>
  Object.keys(components.schemas['Event']?.discriminator?.mapping ?? {})

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Call extends Operation {
  readonly method: string
  readonly path: string
  /** `webhook_endpoints` */
  readonly resource: string
  /** `roll_secret` */
  readonly action: string
}

const folder = 'clients/typescript/src/generated'
const opening = (purpose: string): string =>
  `/** ${purpose} Written by \`npm run gen\` from openapi.json: not by hand. */\n`

/** Throws if two types would have the same name. */
export function clientFiles(document: Document): Record<string, string> {
  const schemas = Object.entries(document.components.schemas)
  const names = schemas.map(([name]) => name)
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // operations without API keys are not for clients
      .filter(([, { operationId, security }]) => operationId !== undefined && security?.length !== 0)
      .map(([method, operation]) => {
        const [resource, action] = operation.operationId.split('.') as [string, string]
        return { ...operation, method: method.toUpperCase(), path, resource, action }
      }),
  )
  const resources = [...new Set(calls.map(({ resource }) => resource))]
  const declared: string[] = []
  const declare = (name: string, schema: Schema): string => {
    if (names.includes(name)) throw new Error(`two types of the client are called ${name}`)
    names.push(name)
    declared.push(declaration(name, schema))
    return name
  }
  const classes = resources.map((resource) => {
    const methods = calls.filter((call) => call.resource === resource).map((call) => methodOf(call, declare))
    return `export class ${pascalCase(resource)}Resource extends Resource {\n${methods.join('\n')}}\n`
  })
  const used = schemas
    .map(([name]) => name)
    .filter((name) =>
      new RegExp(`\\b${name}\\b`).test([...declared, ...classes].join('').replaceAll(/\/\*\*.*\*\//g, '')),
    )
  return {
    [`${folder}/types.ts`]: [
      opening('The objects of the API.'),
      ...schemas.map(([name, schema]) => declaration(name, schema)),
    ].join('\n'),
    [`${folder}/event-types.ts`]: `${opening('The types of events that this version knows.')}export const eventTypes: readonly string[] = [${eventTypesOf(
      document,
    )
      .map((type) => `\n  '${type}',`)
      .join('')}\n]\n`,
    [`${folder}/resources.ts`]: [
      opening('The operations of the API.') +
        `import type { List } from '../list.js'\nimport { Resource } from '../resource.js'\nimport type { RequestOptions, Transport } from '../transport.js'\nimport type {\n${used.map((name) => `  ${name},\n`).join('')}} from './types.js'\n`,
      ...declared,
      ...classes,
      `/** All of them, as the fields of the client. */\nexport class Resources {\n${resources.map((each) => `  readonly ${camelCase(each)}: ${pascalCase(each)}Resource\n`).join('')}\n  constructor(transport: Transport) {\n${resources.map((each) => `    this.${camelCase(each)} = new ${pascalCase(each)}Resource(transport)\n`).join('')}  }\n}\n`,
    ].join('\n'),
  }
}

function methodOf(call: Call, declare: (name: string, schema: Schema) => string): string {
  const name = pascalCase(call.resource) + pascalCase(call.action)
  const named = (schema: Schema, kind: string) =>
    schema.$ref === undefined && schema.type === 'object' ? declare(name + kind, schema) : typeOf(schema)
  const ids = (call.parameters ?? []).filter((each) => each.in === 'path')
  const queries = (call.parameters ?? []).filter((each) => each.in === 'query')
  const parameters = ids.map((each) => `${camelCase(each.name)}: string`)
  const request = [`method: '${call.method}'`, `path: ${pathOf(call.path)}`]
  const body = call.requestBody
  const json = body?.content['application/json']
  if (json !== undefined) {
    parameters.push(
      body!.required === true ? `body: ${named(json.schema, 'Body')}` : `body: ${named(json.schema, 'Body')} = {}`,
    )
    request.push('body')
  } else if (body !== undefined) {
    parameters.push('body: string | Blob | Uint8Array<ArrayBuffer>')
    request.push('body', `contentType: '${Object.keys(body.content)[0]}'`)
  }
  if (queries.length > 0) {
    const type = declare(`${name}Query`, querySchema(queries))
    parameters.push(queries.some((each) => each.required) ? `query: ${type}` : `query?: ${type}`)
    request.push('query')
  }
  parameters.push('options?: RequestOptions')
  const head = `${comment([call.summary, call.description].filter(Boolean).join('. '), '  ')}  ${camelCase(call.action)}(${parameters.join(', ')})`
  const answer = Object.entries(call.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => content)
  const json200 = answer
    .map((content) => content?.['application/json']?.schema)
    .filter((schema) => schema !== undefined)
  const items = json200[0]?.properties?.['data']?.items
  if (call.method === 'GET' && items !== undefined && json200[0]!.properties!['next_cursor'] !== undefined)
    return `${head}: List<${named(items, 'Item')}> {\n    return this.page(${pathOf(call.path)}, query, options)\n  }\n`
  if (json200.length === 0) request.push('text: true')
  const gone = call.method === 'DELETE' ? json200[0]?.properties : undefined
  if (gone !== undefined)
    request.push(`deleted: { id: ${camelCase(ids.at(-1)!.name)}, object: ${typeOf(gone['object']!)}, deleted: true }`)
  const type =
    json200.length === 0 ? 'string' : [...new Set(json200.map((schema) => named(schema, 'Response')))].join(' | ')
  return `${head}: Promise<${type}> {\n    return this.call({ ${request.join(', ')} }, options)\n  }\n`
}

const querySchema = (queries: readonly Parameter[]): Schema => ({
  type: 'object',
  required: queries.filter((each) => each.required).map((each) => each.name),
  properties: Object.fromEntries(
    queries.map(({ name, schema, description }) => [
      name,
      { ...inQuery(schema), ...(description === undefined ? {} : { description }) },
    ]),
  ),
})

/** Booleans in a query are the texts `true` and `false`. */
const inQuery = (schema: Schema): Schema =>
  schema.enum?.toSorted().join() === 'false,true' ? { type: 'boolean' } : schema

const pathOf = (path: string): string =>
  `[${path
    .slice(1)
    .split('/')
    .map((each) => (each.startsWith('{') ? camelCase(each.slice(1, -1)) : `'${each}'`))
    .join(', ')}]`
