/** A stored message as a form holds it. */
import { blanksOf, firstContent, type Blank, type ContentDraft, type Template } from './content.ts'

type Part = Readonly<Record<string, unknown>>

/** `templates` are those of its channel. The content of a template that is not among them is kept as it is. */
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
      template: type === 'template' ? goneName(named) : '',
    }
  const blanks = blanksOf(template).map((blank) => [blank.name, filledIn(blank, named.components ?? [])])
  return { ...firstContent, type, template: template.id, blanks: Object.fromEntries(blanks) as Record<string, string> }
}

const goneName = ({ name, language }: { name?: string; language?: { code?: string } }): string =>
  name === undefined ? '' : `${name} (${language?.code ?? ''})`

/** What stands in a blank of the template. */
function filledIn({ kind, index, holds, named }: Blank, components: readonly Part[]): string {
  const isOfKind = (part: Part) =>
    String(part['type']).toLowerCase() === kind && (kind !== 'button' || Number(part['index']) === index)
  const parameters = (components.find(isOfKind)?.['parameters'] ?? []) as readonly Part[]
  const byName = named === undefined ? undefined : parameters.find((parameter) => parameter['parameter_name'] === named)
  const parameter = byName ?? parameters[kind === 'button' ? 0 : index]
  const value = holds === 'text' ? parameter?.['text'] : (parameter?.[holds] as Part | undefined)?.['link']
  return typeof value === 'string' ? value : ''
}
