/** The driver in `vendor/postgres` is the published one with `patches/` (docs/decisions/patched-driver.md). */
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { generatedDriver } from '../../scripts/gen-driver.ts'
import { root, sources } from './sources.ts'

test('the vendored driver is the published one with every patch applied', async () => {
  const vendored = Object.fromEntries(sources('vendor/postgres/**/*.*').map(({ path, text }) => [path, text]))

  assert.deepEqual(differing(await generatedDriver(), vendored), [], 'these differ; `npm run gen` writes them')
})

test('a missing or additional patch or file of the vendored driver is reported', async (t) => {
  const wanted = await generatedDriver()
  const { patches } = await copies(t)
  await rm(join(patches, 'postgres+3.4.9+011+pool-use.patch'))
  const { 'vendor/postgres/src/bytes.js': _, ...halfPatched } = await generatedDriver(undefined, patches)

  assert.deepEqual(differing(wanted, { ...halfPatched, 'vendor/postgres/src/more.js': '' }), [
    'vendor/postgres/src/bytes.js',
    'vendor/postgres/src/index.js',
    'vendor/postgres/src/more.js',
    'vendor/postgres/types/index.d.ts',
  ])
})

test('a patch that does not apply, or is for another release, is named', async (t) => {
  const { published, patches } = await copies(t)
  const file = join(published, 'src', 'query.js')
  await writeFile(file, (await readFile(file, 'utf8')).replace('this.resolve =', 'this.fulfil ='))
  await assert.rejects(
    generatedDriver(published, patches),
    /patches\/postgres\+3\.4\.9\+010\+short-lived-queries\.patch does not apply to src\/query\.js of postgres 3\.4\.9/,
  )

  const packageFile = join(published, 'package.json')
  await writeFile(
    packageFile,
    (await readFile(packageFile, 'utf8')).replace('"version": "3.4.9"', '"version": "3.4.10"'),
  )
  await assert.rejects(
    generatedDriver(published, patches),
    /patches\/postgres\+3\.4\.9\+001\S+ was made for another release than 3\.4\.10/,
  )
})

test('a patch says what it changes, why, and where it was reported', () => {
  const patches = sources('patches/*')
  const silent = patches.filter(
    ({ text }) => !/^[A-Z].*\n\nDefect: \S[^]*\nReport: (?:https:\/\/|none)[^]*\nNeeded: \S[^]*\n\n--- a\//.test(text),
  )

  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  )
  assert.deepEqual(
    patches.map(({ path }) => Number(path.split('+')[2])),
    patches.map((_, at) => at + 1),
  )
})

test('nothing uses the unpatched driver', () => {
  const breaches = sources('{src,test,bench,scripts}/**/*.{ts,mjs}').filter(({ text }) =>
    /(?:from|import\() ?['"]postgres['"]/.test(text),
  )

  assert.deepEqual(
    breaches.map(({ path }) => path),
    [],
  )
})

const differing = (wanted: Record<string, string>, found: Record<string, string>): string[] =>
  [...new Set([...Object.keys(wanted), ...Object.keys(found)])]
    .filter((path) => wanted[path] !== found[path])
    .toSorted()

async function copies(t: TestContext): Promise<{ published: string; patches: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-driver-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const [published, patches] = [join(folder, 'published'), join(folder, 'patches')]
  await cp(join(root, 'node_modules/postgres'), published, { recursive: true })
  await cp(join(root, 'patches'), patches, { recursive: true })
  return { published, patches }
}
