/** A provider is one folder and one line in the registry (docs/guides/adding-a-provider.md). */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { providers } from '../../src/providers/registry.ts'
import { productSources, root, withoutComments, type Source } from './sources.ts'
import { importsOf } from './syntax.ts'

const registry = 'src/providers/registry.ts'
const folders = 'src/providers'

const filesImportedBy = (source: Source): string[] => importsOf(source).flatMap(({ to }) => to ?? [])

const folderOf = (path: string): string | undefined => new RegExp(`^${folders}/([^/]+)/`).exec(path)?.[1]

const folderNamed = (name: string): string =>
  [name, name.replaceAll('_', '-'), name.replace(/_.*/, '')].find((one) => existsSync(join(root, folders, one)))!

test("only the registry and its own folder import a provider's files", () => {
  const breaches = productSources().flatMap((source) =>
    filesImportedBy(source)
      .filter((to) => folderOf(to) !== undefined && folderOf(to) !== folderOf(source.path) && source.path !== registry)
      .map((to) => `${source.path} → ${to}`),
  )

  assert.deepEqual(breaches, [])
})

test('the registry has one line for each folder', () => {
  const registered = productSources().find(({ path }) => path === registry)!
  const imported = filesImportedBy(registered).flatMap((to) => folderOf(to) ?? [])
  const all = new Set(productSources().flatMap(({ path }) => folderOf(path) ?? []))

  assert.deepEqual(imported.toSorted(), [...all].toSorted())
  assert.deepEqual(providers.map(({ name }) => folderNamed(name)).toSorted(), imported.toSorted())
})

test("no code outside a provider's folder names it", () => {
  const breaches = providers.flatMap(({ name }) =>
    productSources()
      .filter(({ path }) => folderOf(path) !== folderNamed(name))
      .filter(({ text }) => new RegExp(`(['"])${name}\\1`).test(withoutComments(text)))
      .map(({ path }) => `${path} names ${name}`),
  )

  assert.deepEqual(breaches, [])
})

test('test mode has the channels of one provider', () => {
  assert.deepEqual(
    providers.filter(({ test_mode }) => test_mode !== undefined).map(({ offered }) => offered),
    ['never'],
  )
})

test('every offered provider has everything that the guide requires', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const exists = (path: string) => existsSync(join(root, path))
  const missing = providers
    .filter(({ offered }) => offered === 'always')
    .flatMap(({ name, guide }) => {
      const folder = `${folders}/${folderNamed(name)}`
      const tests = globSync(`${folder}/*.test.ts`, { cwd: root }).map(read).join('\n')
      const steps: readonly (readonly [step: string, isDone: boolean])[] = [
        ['2. a description', exists(`${folder}/${folderNamed(name)}.ts`)],
        ['6. samples or a session', exists(`${folder}/samples`) || exists(`${folder}/session.ts`)],
        ['8. a simulator', /test\/support\/(simulators\/|whatsapp-channel|smpp-session)/.test(tests)],
        ['9. the conformance suite', tests.includes('adapterSuite(')],
        ['10. a scenario', exists(`test/scenarios/${folderNamed(name)}.test.ts`)],
        ['11. a guide', guide !== undefined && exists(`docs/guides/${guide}.md`)],
        ['11. the behaviour', exists(`docs/reference/behaviour/${folderNamed(name)}.md`)],
        ['11. the list of providers', read('docs/reference/providers.md').includes(`\`${name}\``)],
      ]
      return steps.filter(([, isDone]) => !isDone).map(([step]) => `${name}: ${step}`)
    })

  assert.deepEqual(missing, [])
})
