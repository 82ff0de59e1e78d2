/** Allowed imports between parts of the source (ARCHITECTURE.md). */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import test from 'node:test'
import { productSources } from './sources.ts'
import { importsOf } from './syntax.ts'

const allowed: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  api: ['lib'],
  settings: ['api', 'lib'],
  platform: ['settings', 'api', 'lib'],
  providers: ['api', 'lib'],
  sources: ['api', 'lib'],
  module: ['platform', 'settings', 'api', 'lib'],
  modules: ['module', 'providers', 'sources', 'platform', 'settings', 'api', 'lib'],
  config: ['providers', 'platform', 'settings', 'api', 'lib'],
  docs: ['modules', 'providers', 'platform', 'api', 'lib'],
  app: ['docs', 'config', 'modules', 'module', 'providers', 'sources', 'platform', 'settings', 'api', 'lib'],
  cli: ['app', 'docs', 'config', 'modules', 'module', 'providers', 'platform', 'settings', 'api', 'lib'],
  main: ['cli', 'lib'],
}
const rootFiles = ['main', 'module']
/** A module may import those before it. */
const modules = [
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
/** The API is data. `ajv` checks the schemas of reply samples. */
const apiPackages = ['ajv', 'typebox', 'typebox/value', 'typebox/compile', 'typebox/format']

const imports = productSources().flatMap(importsOf)
const edges = imports.flatMap(({ from, to }) => (to?.startsWith('src/') === true ? [{ from, to }] : []))
const packages = imports.filter(({ to, specifier }) => to === undefined && !specifier.startsWith('node:'))

test('imports follow the layers: cli, app → modules → platform, api → lib', () => {
  const breaches = edges.filter(({ from, to }) => {
    const [mine, theirs] = [partOf(from), partOf(to)]
    return mine !== theirs && allowed[mine]?.includes(theirs) !== true
  })

  assert.deepEqual(breaches.map(arrow), [])
})

test('a module imports only modules that are listed before it, and only their service.ts', () => {
  const breaches = edges.filter(({ from, to }) => {
    const [mine, theirs] = [moduleOf(from), moduleOf(to)]
    if (mine === undefined || theirs === undefined || mine === theirs) return false
    return modules.indexOf(mine) < modules.indexOf(theirs) || posix.basename(to) !== 'service.ts'
  })

  assert.deepEqual(breaches.map(arrow), [])
  assert.deepEqual([...new Set(edges.flatMap(({ from }) => moduleOf(from) ?? []))].toSorted(), modules.toSorted())
})

test('files do not import each other in a cycle, types included', () => {
  const targets = Map.groupBy(edges, ({ from }) => from)

  assert.deepEqual(
    cyclesOf([...targets.keys()], (path) => (targets.get(path) ?? []).map(({ to }) => to)),
    [],
  )
})

test('lib and api import few packages', () => {
  const breaches = packages.filter(
    ({ from, specifier }) =>
      (partOf(from) === 'api' && !apiPackages.includes(specifier)) ||
      (partOf(from) === 'lib' && ['fastify', '#postgres', 'ioredis'].includes(specifier)),
  )

  assert.deepEqual(
    breaches.map(({ from, specifier }) => `${from} → ${specifier}`),
    [],
  )
})

/** Tarjan's strongly connected components. */
function cyclesOf(files: readonly string[], targetsOf: (path: string) => readonly string[]): string[] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const cycles: string[] = []
  const visit = (path: string): number => {
    order.set(path, order.size)
    lowest.set(path, order.get(path)!)
    open.push(path)
    for (const target of targetsOf(path)) {
      const reached = !order.has(target) ? visit(target) : open.includes(target) ? order.get(target)! : Infinity
      lowest.set(path, Math.min(lowest.get(path)!, reached))
    }
    if (lowest.get(path) === order.get(path)) {
      const cycle = open.splice(open.indexOf(path))
      if (cycle.length > 1) cycles.push(cycle.toSorted().join(' ↔ '))
    }
    return lowest.get(path)!
  }
  for (const path of files) if (!order.has(path)) visit(path)
  return cycles
}

function arrow({ from, to }: { from: string; to: string }): string {
  return `${from} → ${to}`
}

function partOf(path: string): string {
  if (path === 'src/config/settings.ts') return 'settings'
  const [, first, ...rest] = path.split('/')
  if (rest.length > 0) return first!
  const name = posix.basename(first!, '.ts')
  return rootFiles.includes(name) ? name : 'app'
}

const moduleOf = (path: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(path)?.[1]
