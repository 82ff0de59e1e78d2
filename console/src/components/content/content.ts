/** Message content as a form edits it. */
import { contentExamples } from '../../api/generated/contents.ts'
import type { components as OwnComponents } from '../../api/generated/own.ts'
import type { components } from '../../api/generated/v1.ts'

export type Template = components['schemas']['Template']

export interface ContentDraft {
  readonly type: string
  readonly message: string
  /** An ID; or name and language of a missing template, with `message` as its content. */
  readonly template: string
  readonly templateVariables: Readonly<Record<string, string>>
}

export const firstContent: ContentDraft = { type: 'text', message: '', template: '', templateVariables: {} }

export const withType = (draft: ContentDraft, type: string): ContentDraft => ({
  ...draft,
  type,
  message: type === 'text' ? '' : sampleOf(type),
})

const sampleOf = (type: string): string =>
  JSON.stringify((contentExamples as Readonly<Record<string, unknown>>)[type] ?? {}, null, 2)

export const isApproved = ({ status }: Template): boolean => status.toUpperCase() === 'APPROVED'

interface TemplateVariable {
  /** `Body 1`, `Header`, `Button 1` */
  readonly name: string
  readonly kind: 'header' | 'body' | 'button'
  /** `text`, or the file type of the header. */
  readonly holds: string
  readonly named: string | undefined
  readonly index: number
}

const tag = /\{\{\s*([^{}\s]+)\s*\}\}/g
const placeholdersIn = (words: unknown): string[] =>
  typeof words === 'string' ? [...new Set([...words.matchAll(tag)].map(([, name]) => name!))] : []
const files = new Set(['IMAGE', 'VIDEO', 'DOCUMENT'])

type Part = Readonly<Record<string, unknown>>
const kindOf = (part: Part): string => String(part['type']).toUpperCase()

export function templateVariablesOf({ components: parts, parameter_format }: Template): TemplateVariable[] {
  const isNamed = parameter_format.toUpperCase() === 'NAMED'
  return parts.flatMap((part) => {
    if (kindOf(part) === 'BUTTONS') return buttonVariables(part)
    const kind = kindOf(part) === 'HEADER' ? 'header' : 'body'
    const format = String(part['format']).toUpperCase()
    if (kind === 'header' && files.has(format))
      return [{ name: 'Header', kind, holds: format.toLowerCase(), named: undefined, index: 0 } as const]
    return placeholdersIn(part['text']).map((name, index): TemplateVariable => {
      const label = kind === 'header' ? 'Header' : 'Body'
      return { name: `${label} ${name}`, kind, holds: 'text', named: isNamed ? name : undefined, index }
    })
  })
}

const buttonVariables = (part: Part): TemplateVariable[] =>
  (Array.isArray(part['buttons']) ? (part['buttons'] as Part[]) : []).flatMap((button, index): TemplateVariable[] =>
    placeholdersIn(button['url']).length === 0
      ? []
      : [{ name: `Button ${index + 1}`, kind: 'button', holds: 'text', named: undefined, index }],
  )

/** undefined for invalid JSON. */
export function contentOf(
  { type, message, template, templateVariables }: ContentDraft,
  templates: readonly Template[],
): unknown {
  if (type === 'text') return { body: message }
  if (type === 'template' && templates.length > 0 && template === '') return {}
  const chosen = type === 'template' ? templates.find(({ id }) => id === template) : undefined
  if (chosen !== undefined) return templateContent(chosen, templateVariables)
  try {
    return JSON.parse(message) as unknown
  } catch {
    return undefined
  }
}

function templateContent(template: Template, filled: Readonly<Record<string, string>>): object {
  const all = templateVariablesOf(template)
  const parameterOf = ({ name, holds, named }: TemplateVariable) => {
    const value = filled[name] ?? ''
    const what = holds === 'text' ? { text: value } : { [holds]: { link: value } }
    return { type: holds, ...(named === undefined ? {} : { parameter_name: named }), ...what }
  }
  const parts = (['header', 'body'] as const).flatMap((kind) => {
    const own = all.filter((variable) => variable.kind === kind)
    return own.length === 0 ? [] : [{ type: kind, parameters: own.map(parameterOf) }]
  })
  const buttons = all
    .filter(({ kind }) => kind === 'button')
    .map((variable) => ({
      type: 'button',
      sub_type: 'url',
      index: String(variable.index),
      parameters: [parameterOf(variable)],
    }))
  return { name: template.name, language: { code: template.language }, components: [...parts, ...buttons] }
}

export function wordsWith(part: Part, filled: Readonly<Record<string, string>>): string {
  const label = kindOf(part) === 'HEADER' ? 'Header' : 'Body'
  const words = part['text']
  return typeof words === 'string'
    ? words.replaceAll(tag, (whole, name: string) => filled[`${label} ${name}`] || whole)
    : ''
}

/** Content of unknown templates stays JSON. */
export function storedContent(message: { readonly type: string }, templates: readonly Template[]): ContentDraft {
  const { type } = message
  const content = (message as Part)[type]
  if (type === 'text') return { ...firstContent, type, message: String((content as Part)['body'] ?? '') }
  const named = content as { name?: string; language?: { code?: string }; components?: readonly Part[] | null }
  const template =
    type === 'template'
      ? templates.find(({ name, language }) => name === named.name && language === named.language?.code)
      : undefined
  if (template === undefined)
    return {
      ...firstContent,
      type,
      message: JSON.stringify(content, null, 2),
      template: type === 'template' ? missingTemplateName(named) : '',
    }
  const templateVariables = templateVariablesOf(template).map((variable) => [
    variable.name,
    variableValue(variable, named.components ?? []),
  ])
  return {
    ...firstContent,
    type,
    template: template.id,
    templateVariables: Object.fromEntries(templateVariables) as Record<string, string>,
  }
}

const missingTemplateName = ({ name, language }: { name?: string; language?: { code?: string } }): string =>
  name === undefined ? '' : `${name} (${language?.code ?? ''})`

function variableValue({ kind, index, holds, named }: TemplateVariable, components: readonly Part[]): string {
  const isOfKind = (part: Part) =>
    String(part['type']).toLowerCase() === kind && (kind !== 'button' || Number(part['index']) === index)
  const parameters = (components.find(isOfKind)?.['parameters'] ?? []) as readonly Part[]
  const byName = named === undefined ? undefined : parameters.find((parameter) => parameter['parameter_name'] === named)
  const parameter = byName ?? parameters[kind === 'button' ? 0 : index]
  const value = holds === 'text' ? parameter?.['text'] : (parameter?.[holds] as Part | undefined)?.['link']
  return typeof value === 'string' ? value : ''
}

type Uploaded = OwnComponents['schemas']['UploadedMedia']

type Content = Readonly<Record<string, unknown>>

interface UploadTarget {
  readonly kinds: readonly string[]
  readonly apply: (file: Uploaded) => Pick<ContentDraft, 'message' | 'templateVariables'>
}

const allKinds = ['image', 'video', 'audio', 'document']
const headerKinds = ['image', 'video', 'document']

/** undefined if the draft has no place for a file. */
export function uploadTarget(draft: ContentDraft, templates: readonly Template[]): UploadTarget | undefined {
  const { type, message, templateVariables } = draft
  if (type === 'text')
    return {
      kinds: allKinds,
      apply: ({ url }) => ({
        message: [message.trimEnd(), url].filter((line) => line !== '').join('\n'),
        templateVariables,
      }),
    }
  if (type === 'template') return templateUploadTarget(draft, templates)
  const content = parsed(message)
  const apply = (value: unknown) => ({ message: JSON.stringify(value, null, 2), templateVariables })
  if (type === 'attachments' && Array.isArray(content)) {
    // the first file replaces the example
    const others: readonly unknown[] = message === withType(draft, type).message ? [] : content
    return { kinds: allKinds, apply: (file) => apply([...others, attachmentOf(file)]) }
  }
  if (typeof content !== 'object' || content === null || !('header' in content)) return undefined
  return { kinds: headerKinds, apply: (file) => apply({ ...(content as Content), header: attachmentOf(file) }) }
}

function templateUploadTarget(
  { message, template, templateVariables }: ContentDraft,
  templates: readonly Template[],
): UploadTarget | undefined {
  const chosen = templates.find(({ id }) => id === template)
  const variable = chosen === undefined ? undefined : templateVariablesOf(chosen).find(({ holds }) => holds !== 'text')
  return variable === undefined
    ? undefined
    : {
        kinds: [variable.holds],
        apply: ({ url }) => ({ message, templateVariables: { ...templateVariables, [variable.name]: url } }),
      }
}

const attachmentOf = ({ type, url, filename }: Uploaded): object => ({
  type,
  url,
  ...(type === 'document' && filename !== null ? { filename } : {}),
})

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return undefined
  }
}

export const mergeTagsIn = (message: unknown): string[] => [
  ...new Set([...JSON.stringify(message ?? '').matchAll(tag)].map(([, name]) => name!)),
]
