/** Reads the syntax of TypeScript with oxc, as shipped with Rolldown. */
import { posix } from 'node:path'
import { parseSync } from 'rolldown/utils'
import type { Source } from './sources.ts'

export interface Import {
  readonly from: string
  readonly specifier: string
  /** undefined for packages. */
  readonly to: string | undefined
}

/** Includes types, re-exports and dynamic imports. */
export function importsOf({ path, text }: Source): Import[] {
  const { module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`)
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ]
  return [...new Set(specifiers)].map((specifier) => ({
    from: path,
    specifier,
    to: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined,
  }))
}
