/** The source files as the laws read them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Source {
  /** From the root of the checkout, with slashes. */
  readonly path: string
  readonly text: string
}

/** Files by glob patterns from the root. */
export function sources(...patterns: string[]): Source[] {
  const paths = globSync(patterns, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

export const productSources = (): Source[] => sources('src/**/*.ts').filter(({ path }) => !path.endsWith('.test.ts'))

/** The text without comments, line for line. Good enough for laws: strings that hold comment marks are rare here. */
export const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' ')).replaceAll(/(^|\s)\/\/.*$/gm, '$1')
