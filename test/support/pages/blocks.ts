/** The code blocks of a markdown page, with marks in hidden comments. */

export type Mark =
  /** `<!-- not run: why -->` */
  | { readonly kind: 'not run'; readonly reason: string }
  /** `<!-- file: people.csv -->`: a file for the commands. */
  | { readonly kind: 'file'; readonly name: string }
  /** `<!-- excerpt: src/app.ts -->`: part of this file, with `…` for omissions. */
  | { readonly kind: 'excerpt'; readonly path: string }
  /** `<!-- later: 5 s -->` */
  | { readonly kind: 'later'; readonly ms: number }
  /** `<!-- while time passes -->`: the commands wait for something. */
  | { readonly kind: 'while time passes' }
  /** `<!-- beside -->`: commands in the background, or their output. */
  | { readonly kind: 'beside' }

export interface Block {
  readonly language: string
  readonly text: string
  readonly line: number
  readonly mark: Mark | undefined
}

/** Throws on an unknown mark. */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, indent, language] = /^( *)```(\w*)\s*$/.exec(lines[at]!) ?? []
    if (indent === undefined) continue
    const end = lines.findIndex((line, index) => index > at && line.trim() === '```')
    if (end < 0) throw new Error(`line ${at + 1}: a block without an end`)
    const text = lines.slice(at + 1, end).map((line) => `${line.slice(indent.length)}\n`)
    blocks.push({ language: language!, text: text.join(''), line: at + 1, mark: markOf(lines.slice(0, at), at + 1) })
    at = end
  }
  return blocks
}

function markOf(before: readonly string[], line: number): Mark | undefined {
  const [, comment] = /^\s*<!-- (.*) -->$/.exec(before.findLast((each) => each.trim() !== '') ?? '') ?? []
  if (comment === undefined) return undefined
  if (comment === 'beside' || comment === 'while time passes') return { kind: comment }
  const [, kind, value] = /^(not run|file|excerpt|later): (.+)$/.exec(comment) ?? []
  if (kind === 'not run') return { kind, reason: value! }
  if (kind === 'file') return { kind, name: value! }
  if (kind === 'excerpt') return { kind, path: value! }
  const [, seconds] = /^(\d+) s$/.exec(value ?? '') ?? []
  if (kind === 'later' && seconds !== undefined) return { kind, ms: Number(seconds) * 1000 }
  throw new Error(`line ${line}: <!-- ${comment} --> says nothing that is known about a block`)
}
