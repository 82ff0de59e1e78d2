/** TypeScript types from the schemas of an OpenAPI document. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  /** More may be added. */
  readonly 'x-extensible-enum'?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> }
}

export function typeOf(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!
  const union = schema.oneOf ?? schema.anyOf
  if (union !== undefined) return unionOf(union.map((each) => typeOf(each, indent)))
  if (schema.allOf !== undefined) return schema.allOf.map((each) => inBrackets(typeOf(each, indent))).join(' & ')
  if ('const' in schema) return literal(schema.const)
  if (schema.enum !== undefined) return unionOf(schema.enum.map(literal))
  const types = [schema.type ?? []].flat()
  const known = schema['x-extensible-enum']
  if (known !== undefined)
    return unionOf([...known.map(literal), '(string & {})', ...(types.includes('null') ? ['null'] : [])])
  if (types.length === 0) return schema.properties === undefined ? 'unknown' : objectOf(schema, indent)
  return unionOf(types.map((type) => simple(type, schema, indent)))
}

export function declaration(name: string, schema: Schema): string {
  const isObject = schema.type === 'object' && schema.properties !== undefined && schema.allOf === undefined
  const type = typeOf(schema)
  return `${comment(schema.description)}export ${isObject ? `interface ${name} ${type}` : `type ${name} = ${type}`}\n`
}

export function comment(text: string | undefined, indent = ''): string {
  if (text === undefined || text === '') return ''
  return `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s*\n\s*/g, ' ')} */\n`
}

function simple(type: string, schema: Schema, indent: string): string {
  if (type === 'array') return `${inBrackets(typeOf(schema.items ?? {}, indent))}[]`
  if (type === 'object') return objectOf(schema, indent)
  return type === 'integer' ? 'number' : type
}

function objectOf({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const others =
    additionalProperties === true
      ? 'unknown'
      : typeof additionalProperties === 'object'
        ? typeOf(additionalProperties, indent)
        : undefined
  if (properties === undefined) return `Record<string, ${others ?? 'unknown'}>`
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`
    const type = typeOf(schema, inner)
    return (
      comment(schema.description, inner) +
      (required.includes(name) ? `${inner}${key}: ${type}\n` : `${inner}${key}?: ${unionOf([type, 'undefined'])}\n`)
    )
  })
  if (others !== undefined) fields.push(`${inner}[key: string]: unknown\n`)
  return `{\n${fields.join('')}${indent}}`
}

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ')
const inBrackets = (type: string): string => (type.includes('|') || type.includes(' & ') ? `(${type})` : type)
const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value)
