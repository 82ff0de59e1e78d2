/** Who may import whom. The tables are the rule; ARCHITECTURE.md explains it. */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import test from 'node:test'
import { productSources, type Source } from './sources.ts'

const layers = ['lib', 'api', 'platform', 'providers', 'sources', 'modules', 'app', 'main']
const features = [
  'accounts',
  'mail',
  'billing',
  'channels',
  'media',
  'contacts',
  'messages',
  'webhooks',
  'campaigns',
  'automations',
  'console',
]
/** Files of the root by layer; `cli` and `reference` stand with `app`. */
const rootFiles: Record<string, string> = {
  app: 'app',
  main: 'main',
  openapi: 'app',
  pages: 'app',
  working: 'app',
}
/** Through which files a feature may be reached: its service, and the shape that providers have. */
const entrances = ['service.ts']
/** api is data: it imports these packages and nothing else. `ajv` judges the schemas of reply samples. */
const contractPackages = ['ajv', 'typebox', 'typebox/value', 'typebox/compile', 'typebox/format']

test('imports point left: lib, api, platform, providers, sources, modules, app, main', () => {
  const breaches = edges().filter(({ from, to }) => layers.indexOf(layerOf(from)) < layers.indexOf(layerOf(to)))

  assert.deepEqual(breaches.map(arrow), [])
})

test('features point left, and reach each other through their services alone', () => {
  const breaches = edges().filter(({ from, to }) => {
    const [mine, theirs] = [featureOf(from), featureOf(to)]
    if (mine === undefined || theirs === undefined || mine === theirs) return false
    return features.indexOf(mine) < features.indexOf(theirs) || !entrances.includes(posix.basename(to))
  })

  assert.deepEqual(breaches.map(arrow), [])
})

test('the platform and a provider know no feature; a provider knows the provider interface, api and lib', () => {
  const breaches = edges().filter(({ from, to }) => {
    if (!from.startsWith('src/providers/')) return false
    return !/^src\/(lib|api|providers)\//.test(to)
  })

  assert.deepEqual(breaches.map(arrow), [])
})

test('no files import each other in a circle, by type neither', () => {
  const targets = Map.groupBy(edges(), ({ from }) => from)
  const circles = circlesOf([...targets.keys()], (path) => (targets.get(path) ?? []).map(({ to }) => to))

  assert.deepEqual(circles, [])
})

test('lib imports Node and small tools; api imports typebox', () => {
  const breaches = packageImports().filter(
    ({ from, name }) => layerOf(from) === 'api' && !contractPackages.includes(name),
  )
  const engines = packageImports().filter(
    ({ from, name }) => layerOf(from) === 'lib' && ['fastify', '#postgres', 'ioredis'].includes(name),
  )

  assert.deepEqual(
    [...breaches, ...engines].map(({ from, name }) => `${from} → ${name}`),
    [],
  )
})

test('SQL is written in stores, by the platform and by checks alone', () => {
  const breaches = productSources().filter(
    ({ path, text }) => path.includes('/routes.ts') && /\bsql`|\bpool`/.test(text),
  )

  assert.deepEqual(
    breaches.map(({ path }) => path),
    [],
  )
})

/** Groups of files each of which reaches every other (Tarjan's strongly connected components), as text. */
function circlesOf(files: readonly string[], targetsOf: (path: string) => readonly string[]): string[] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[] = []
  const visit = (path: string): number => {
    order.set(path, order.size)
    lowest.set(path, order.get(path)!)
    open.push(path)
    for (const target of targetsOf(path)) {
      const reached = !order.has(target) ? visit(target) : open.includes(target) ? order.get(target)! : Infinity
      lowest.set(path, Math.min(lowest.get(path)!, reached))
    }
    if (lowest.get(path) === order.get(path)) {
      const circle = open.splice(open.indexOf(path))
      if (circle.length > 1) circles.push(circle.toSorted().join(' ↔ '))
    }
    return lowest.get(path)!
  }
  for (const path of files) if (!order.has(path)) visit(path)
  return circles
}

interface Edge {
  readonly from: string
  readonly to: string
}

const arrow = ({ from, to }: Edge): string => `${from} → ${to}`

const importsOf = ({ text }: Source): string[] =>
  [
    ...text.matchAll(
      /^import\s+(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|^export\s[^'";=(]*?\sfrom\s+['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3]!)

function edges(): Edge[] {
  return productSources().flatMap((source) =>
    importsOf(source)
      .filter((name) => name.startsWith('.'))
      .map((name) => ({ from: source.path, to: posix.join(posix.dirname(source.path), name) }))
      .filter(({ to }) => to.startsWith('src/')),
  )
}

function packageImports(): { from: string; name: string }[] {
  return productSources().flatMap((source) =>
    importsOf(source)
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
      .map((name) => ({ from: source.path, name })),
  )
}

function layerOf(path: string): string {
  const [, first] = path.split('/')
  if (path === 'src/config/settings.ts') return 'platform'
  if (first === 'cli' || first === 'docs' || first === 'config') return 'app'
  return rootFiles[first!.replace(/\.ts$/, '')] ?? first!
}

const featureOf = (path: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(path)?.[1]
