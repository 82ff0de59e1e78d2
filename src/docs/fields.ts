/** Tables of schema fields. */
import { contentPath, typeOfContent } from './content-page.ts'
import { escape, inline } from './page.ts'
import type { Schema } from './schema.ts'

const depthMax = 3

/** `nested` includes fields of nested objects; `required` marks required ones. Empty without fields. */
export function fieldTable(
  schema: Schema | undefined,
  { nested, isRequest }: { readonly nested: boolean; readonly isRequest: boolean },
): string {
  const fields = Object.entries(schema?.properties ?? {})
  if (fields.length === 0) return ''
  const required = isRequest ? (schema!.required ?? []) : []
  const rows = fields.flatMap(([name, field]) =>
    fieldRows(name, field, required.includes(name), { isRequest, depth: nested ? 0 : depthMax }),
  )
  return `<div class="scroll"><table class="fields"><thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function fieldRows(
  name: string,
  schema: Schema,
  required: boolean,
  { isRequest, depth }: { readonly isRequest: boolean; readonly depth: number },
): string[] {
  const content = typeOfContent(schema)
  const meaning = [schema.description, boundsOf(schema)].filter((text) => text !== undefined && text !== '').join(' ')
  const shown =
    content === undefined
      ? inline(meaning)
      : `${inline(schema.description ?? '')} <a href="${contentPath(content)}">Its fields</a>`
  const mark = required ? ' <span class="required">required</span>' : ''
  const row = `<tr><td><code>${escape(name)}</code>${mark}</td><td>${escape(typeOf(schema))}</td><td>${shown}</td></tr>`
  if (content !== undefined || depth >= depthMax) return [row]
  const [inner, prefix] = schema.items?.properties === undefined ? [schema, `${name}.`] : [schema.items, `${name}[].`]
  const within = Object.entries(inner.properties ?? {}).flatMap(([field, child]) =>
    fieldRows(prefix + field, child, isRequest && (inner.required ?? []).includes(field), {
      isRequest,
      depth: depth + 1,
    }),
  )
  return [row, ...within]
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const variants = schema.anyOf ?? schema.oneOf
  if (schema.type === undefined && variants !== undefined) return [...new Set(variants.map(typeOf))].join(' or ')
  const type = [schema.type ?? 'any'].flat().map(String).join(' or ')
  return schema.items === undefined ? type : `${type} of ${typeOf(schema.items)}`
}

function boundsOf(schema: Schema): string {
  const bounds: string[] = []
  const values = (schema.enum ?? []).filter((value) => value !== null).map((value) => `\`${String(value)}\``)
  if (values.length > 0) bounds.push(`One of ${values.join(', ')}.`)
  const range = (min: number | undefined, max: number | undefined, unit: string) => {
    if (min !== undefined && max !== undefined) bounds.push(`${min} to ${max}${unit}.`)
    else if (max !== undefined) bounds.push(`At most ${max}${unit}.`)
    else if (min !== undefined && (min > 1 || unit === '')) bounds.push(`At least ${min}${unit}.`)
  }
  range(schema.minLength, schema.maxLength, ' characters')
  range(schema.minimum, schema.maximum, '')
  range(schema.minItems, schema.maxItems, ' items')
  if (schema.default !== undefined) bounds.push(`Default \`${JSON.stringify(schema.default)}\`.`)
  return bounds.join(' ')
}
