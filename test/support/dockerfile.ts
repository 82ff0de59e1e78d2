/** Reads the Dockerfile and its build context without a builder. */
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'

const root = join(import.meta.dirname, '../..')

interface Instruction {
  readonly name: string
  readonly value: string
}

export function instructionsOf(text: string): Instruction[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => ({ name: line.split(' ', 1)[0]!, value: line.slice(line.indexOf(' ') + 1).trim() }))
}

export function dockerContext(): string[] {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ takes: line.startsWith('!'), pattern: line.replace('!', '') }))
  const matches = (path: string, pattern: string) => {
    const parts = path.split('/')
    return parts.some((_, at) => matchesGlob(parts.slice(0, at + 1).join('/'), pattern))
  }
  const isTaken = (path: string) => rules.findLast(({ pattern }) => matches(path, pattern))?.takes ?? true
  const files = globSync('{*,.*,{bin,clients,console,deploy,docs,migrations,scripts,src,test,vendor}/**/*}', {
    cwd: root,
    withFileTypes: true,
    exclude: (entry) => entry.name === 'node_modules',
  })
  return files
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter(isTaken)
}

interface Image {
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
}

export function imageOf(): Image {
  const dockerfile = instructionsOf(readFileSync(join(root, 'Dockerfile'), 'utf8'))
  const last = (name: string) => dockerfile.findLast((each) => each.name === name)?.value ?? ''
  const words = (name: string) => JSON.parse(last(name).replace(/^[^[]*/, '')) as string[]
  return {
    env: Object.fromEntries(
      last('ENV')
        .split(/\s+/)
        .map((pair) => pair.split('=') as [string, string]),
    ),
    user: last('USER'),
    entrypoint: words('ENTRYPOINT'),
    command: words('CMD'),
    healthcheck: words('HEALTHCHECK'),
  }
}
