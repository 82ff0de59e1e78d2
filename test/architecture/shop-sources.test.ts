/** A source is one folder and one line in the registry (docs/guides/adding-a-source.md). */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import test from 'node:test'
import { sources } from '../../src/sources/registry.ts'
import { productSources, withoutComments, type Source } from './sources.ts'

const registry = 'src/sources/registry.ts'

const importsOf = ({ path, text }: Source): string[] =>
  [...text.matchAll(/(?:\bfrom\s+|\bimport\()['"](\.[^'"]+)['"]/g)].map((match) =>
    posix.join(posix.dirname(path), match[1]!),
  )

const folderOf = (path: string): string | undefined => /^src\/sources\/([^/]+)\//.exec(path)?.[1]

test("only the registry and its own folder import a source's files", () => {
  const breaches = productSources().flatMap((source) =>
    importsOf(source)
      .filter((to) => folderOf(to) !== undefined && folderOf(to) !== folderOf(source.path) && source.path !== registry)
      .map((to) => `${source.path} → ${to}`),
  )

  assert.deepEqual(breaches, [])
})

test('a source imports api, lib and the shared files of sources', () => {
  const breaches = productSources()
    .filter(({ path }) => path.startsWith('src/sources/'))
    .flatMap((source) =>
      importsOf(source)
        .filter((to) => !/^src\/(?:api|lib|sources)\//.test(to))
        .map((to) => `${source.path} → ${to}`),
    )

  assert.deepEqual(breaches, [])
})

test('the registry has one line for each folder, named as its platform', () => {
  const folders = new Set(productSources().flatMap(({ path }) => folderOf(path) ?? []))

  assert.deepEqual(sources.map(({ platform }) => platform).toSorted(), [...folders].toSorted())
})

test('no module names a platform that has a source', () => {
  const breaches = sources.flatMap(({ platform }) =>
    productSources()
      .filter(({ path }) => path.startsWith('src/modules/'))
      .filter(({ text }) => new RegExp(`(['"])${platform}\\1`).test(withoutComments(text)))
      .map(({ path }) => `${path} names ${platform}`),
  )

  assert.deepEqual(breaches, [])
})
