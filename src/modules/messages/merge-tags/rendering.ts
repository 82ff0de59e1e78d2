/** Renders merge tags. A message is compiled once (behaviour: campaigns 5). */
import type { Detail } from '../../../api/errors.ts'
import { join } from '../../../api/validation.ts'
import { tag, type MergeValues } from './tags.ts'

export interface Unrenderable {
  readonly failures: readonly [Detail, ...Detail[]]
}

/** All values; more than any channel accepts. */
export const filledLengthMax = 100_000

/** Between two texts, the index of a tag's name. */
interface TaggedText {
  readonly kind: 'text'
  readonly param: string
  readonly texts: readonly string[]
  readonly tags: readonly number[]
}

type Node =
  | TaggedText
  | { readonly kind: 'array'; readonly base: readonly unknown[]; readonly changed: ReadonlyMap<number, Node> }
  | { readonly kind: 'object'; readonly base: object; readonly changed: ReadonlyMap<string, Node> }

interface CompiledMessage {
  readonly root: Node | null
  /** Without repetitions. */
  readonly names: readonly string[]
  readonly counts: readonly number[]
}

const compiled = new WeakMap<object, CompiledMessage>()

function compiledOf(message: object): CompiledMessage {
  let known = compiled.get(message)
  if (known === undefined) compiled.set(message, (known = compile(message)))
  return known
}

export const hasTags = (message: object): boolean => compiledOf(message).root !== null

/** A string that becomes blank is a failure. */
export function render(
  message: object,
  values: MergeValues,
  fallbacks: Readonly<Record<string, string>>,
): { readonly rendered: unknown } | Unrenderable {
  const { root, names, counts } = compiledOf(message)
  if (root === null) return { rendered: message }
  const texts = names.map((name) => values.get(name) ?? (Object.hasOwn(fallbacks, name) ? fallbacks[name]! : ''))
  if (texts.reduce((sum, text, i) => sum + text.length * counts[i]!, 0) > filledLengthMax)
    return { failures: [tooMuchText] }
  const emptied: Detail[] = []
  const rendered = fill(root, texts, emptied)
  const [first, ...others] = emptied
  return first === undefined ? { rendered } : { failures: [first, ...others] }
}

const tooMuchText: Detail = {
  param: 'message',
  code: 'too_long',
  message: '`message` is far too long once its merge tags are filled in.',
}

function fill(node: Node, texts: readonly string[], emptied: Detail[]): unknown {
  switch (node.kind) {
    case 'text': {
      let filled = node.texts[0]!
      for (let i = 0; i < node.tags.length; i++) filled += texts[node.tags[i]!]! + node.texts[i + 1]!
      if (filled.trim() === '') emptied.push(emptyText(node.param))
      return filled
    }
    case 'array': {
      const items = [...node.base]
      for (const [i, item] of node.changed) items[i] = fill(item, texts, emptied)
      return items
    }
    case 'object':
      return Object.fromEntries(
        Object.entries(node.base).map(([key, item]) => {
          const changed = node.changed.get(key)
          return [key, changed === undefined ? item : fill(changed, texts, emptied)]
        }),
      )
  }
}

const emptyText = (param: string): Detail => ({
  param,
  code: 'too_short',
  message: `\`${param}\` is empty once its merge tags are filled in. Give the tag a text in \`merge_fallbacks\`.`,
})

function compile(message: object): CompiledMessage {
  const indexes = new Map<string, number>()
  const counts: number[] = []
  const indexOf = (name: string): number => {
    let index = indexes.get(name)
    if (index === undefined) indexes.set(name, (index = indexes.size))
    counts[index] = (counts[index] ?? 0) + 1
    return index
  }
  const root = nodeOf(message, 'message', indexOf)
  return { root, names: [...indexes.keys()], counts }
}

function nodeOf(value: unknown, path: string, indexOf: (name: string) => number): Node | null {
  if (typeof value === 'string') return textNode(value, path, indexOf)
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    const changed = new Map(value.flatMap((item, i) => withNode(i, nodeOf(item, `${path}[${i}]`, indexOf))))
    return changed.size === 0 ? null : { kind: 'array', base: value, changed }
  }
  const changed = new Map(
    Object.entries(value).flatMap(([key, item]) => withNode(key, nodeOf(item, join(path, key), indexOf))),
  )
  return changed.size === 0 ? null : { kind: 'object', base: value, changed }
}

const withNode = <K>(key: K, node: Node | null): [K, Node][] => (node === null ? [] : [[key, node]])

function textNode(text: string, param: string, indexOf: (name: string) => number): TaggedText | null {
  const parts = text.split(tag)
  if (parts.length === 1) return null
  // text, tag, text, …
  const texts = parts.filter((_, i) => i % 2 === 0)
  const tags = parts.filter((_, i) => i % 2 === 1).map((name) => indexOf(name.trim()))
  return { kind: 'text', param, texts, tags }
}
