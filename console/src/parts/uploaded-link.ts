/** Where the link of an uploaded file stands in what is written. */
import type { components } from '../api/generated/own.ts'
import { blanksOf, withType, type ContentDraft, type Template } from './content.ts'

export type Uploaded = components['schemas']['UploadedMedia']

type Content = Readonly<Record<string, unknown>>

/** What takes a link: the kinds of files that fit, and the draft with one of them. */
export interface LinkPlace {
  readonly kinds: readonly string[]
  readonly put: (file: Uploaded) => Pick<ContentDraft, 'message' | 'blanks'>
}

const allKinds = ['image', 'video', 'audio', 'document']
const headerKinds = ['image', 'video', 'document']

/** Undefined where nothing takes one. */
export function linkPlace(draft: ContentDraft, templates: readonly Template[]): LinkPlace | undefined {
  const { type, message, blanks } = draft
  if (type === 'text')
    return {
      kinds: allKinds,
      put: ({ url }) => ({ message: [message.trimEnd(), url].filter((line) => line !== '').join('\n'), blanks }),
    }
  if (type === 'template') return placeInTemplate(draft, templates)
  const content = parsed(message)
  const put = (value: unknown) => ({ message: JSON.stringify(value, null, 2), blanks })
  if (type === 'attachments' && Array.isArray(content)) {
    // the sample gives way to the first file
    const others: readonly unknown[] = message === withType(draft, type).message ? [] : content
    return { kinds: allKinds, put: (file) => put([...others, attachmentOf(file)]) }
  }
  if (typeof content !== 'object' || content === null || !('header' in content)) return undefined
  return { kinds: headerKinds, put: (file) => put({ ...(content as Content), header: attachmentOf(file) }) }
}

function placeInTemplate(
  { message, template, blanks }: ContentDraft,
  templates: readonly Template[],
): LinkPlace | undefined {
  const chosen = templates.find(({ id }) => id === template)
  const blank = chosen === undefined ? undefined : blanksOf(chosen).find(({ holds }) => holds !== 'text')
  return blank === undefined
    ? undefined
    : { kinds: [blank.holds], put: ({ url }) => ({ message, blanks: { ...blanks, [blank.name]: url } }) }
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
