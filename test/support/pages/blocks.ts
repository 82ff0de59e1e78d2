/** The code blocks of a markdown page, with what the page says about running them in comments that readers do not see. */

export type Mark =
  /** `<!-- not run: why -->`: shown alone. */
  | { readonly kind: 'not run'; readonly reason: string }
  /** `<!-- file: people.csv -->`: the block is the content of this file, in the folder in which the commands run. */
  | { readonly kind: 'file'; readonly name: string }
  /** `<!-- excerpt: src/app.ts -->`: the block is of this file of the repository, with `…` for what is left out. */
  | { readonly kind: 'excerpt'; readonly path: string }
  /** `<!-- later: 5 s -->`: the commands are given this much later than the ones before. */
  | { readonly kind: 'later'; readonly ms: number }
  /** `<!-- while time passes -->`: the commands wait for something that takes its time. */
  | { readonly kind: 'while time passes' }
  /** `<!-- beside -->`: commands that go on running beside those that follow, as in another terminal; or what those print. */
  | { readonly kind: 'beside' }

export interface Block {
  /** `sh`, `json`, …; empty where the fence names none. */
  readonly language: string
  readonly text: string
  /** Of the fence, counted from 1. */
  readonly line: number
  readonly mark: Mark | undefined
}

/** Throws on a comment before a block that is no mark, for a misspelt one would pass unseen. */
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
