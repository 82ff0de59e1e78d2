/** Every export is used by another file. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { productSources, sources, withoutComments } from './sources.ts'

const exportedValue = /^export (?:async )?(?:const|function\*?|class) (\w+)/gm

test('every exported value is used by another file', () => {
  const users = new Map<string, Set<string>>()
  for (const { path, text } of sources(
    'src/**/*.ts',
    'test/**/*.ts',
    'bench/**/*.ts',
    'scripts/**/*.ts',
    'clients/typescript/src/**/*.ts',
  ))
    for (const [word] of withoutComments(text).matchAll(/\w+/g))
      users.set(word, (users.get(word) ?? new Set()).add(path))
  const breaches = productSources().flatMap(({ path, text }) =>
    [...text.matchAll(exportedValue)]
      .filter(([, name]) => users.get(name!)!.size === 1)
      .map(([, name]) => `${path} exports ${name}`),
  )

  assert.deepEqual(breaches, [])
})
