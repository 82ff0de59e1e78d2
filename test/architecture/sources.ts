/** Source files for architecture tests. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Source {
  readonly path: string
  readonly text: string
}

export function sources(...patterns: string[]): Source[] {
  const paths = globSync(patterns, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

export const productSources = (): Source[] => sources('src/**/*.ts').filter(({ path }) => !path.endsWith('.test.ts'))

/** Line for line. Comment marks in strings are rare here. */
export const withoutComments = (text: string): string =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1')

export interface Template {
  readonly text: string
  readonly index: number
}

/** May contain a backtick or a brace: comments, strings, regular expressions. */
const passedOver = [
  /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y,
  /(?<=(?:[(,=:[!&|?{};>]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//y,
]

function lengthPassedOver(code: string, at: number): number {
  for (const pattern of passedOver) {
    pattern.lastIndex = at
    const length = pattern.exec(code)?.[0].length ?? 0
    if (length > 0) return length
  }
  return 0
}

/** The outermost template literals. Throws if one is not closed. */
export function templates(code: string): Template[] {
  const found: Template[] = []
  const starts: number[] = []
  const braces = [0]
  let inTemplate = false
  for (let at = 0; at < code.length; at++) {
    const char = code[at]
    if (inTemplate) {
      if (char === '\\') at++
      else if (char === '`') {
        inTemplate = false
        const start = starts.pop()!
        if (starts.length === 0) found.push({ text: code.slice(start + 1, at), index: start })
      } else if (code.startsWith('${', at)) {
        inTemplate = false
        braces.push(0)
        at++
      }
      continue
    }
    const passed = /['"/]/.test(char!) ? lengthPassedOver(code, at) : 0
    if (passed > 0) at += passed - 1
    else if (char === '`') {
      inTemplate = true
      starts.push(at)
    } else if (char === '{') braces.push(braces.pop()! + 1)
    else if (char === '}' && braces.length > 1 && braces.at(-1) === 0) {
      inTemplate = true
      braces.pop()
    } else if (char === '}') braces.push(braces.pop()! - 1)
  }
  if (inTemplate || braces.length > 1 || braces[0] !== 0)
    throw new Error(`template literals do not close: ${code.slice(0, 80)}`)
  return found
}
