/** Reads the syntax of TypeScript sources with a real parser: oxc, as Rolldown ships it. */
import { posix } from 'node:path'
import { parseSync } from 'rolldown/utils'
import type { Source } from './sources.ts'

export interface Import {
  /** The file that imports. */
  readonly from: string
  /** As written: `./rows.ts`, `node:fs`, `fastify`. */
  readonly specifier: string
  /** Path of the imported file from the root of the checkout; undefined for packages. */
  readonly to: string | undefined
}

/** Every import and re-export of a file: of values and of types, static and dynamic. */
export function importsOf({ path, text }: Source): Import[] {
  const { module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`)
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    // as written, with its quotes
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ]
  return [...new Set(specifiers)].map((specifier) => ({
    from: path,
    specifier,
    to: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined,
  }))
}
