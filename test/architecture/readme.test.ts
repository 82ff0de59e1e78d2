/** The README documents every setting. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { readConfig, settingsTable } from '../../src/config/config.ts'
import { root, sources } from './sources.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')

test('every default is itself a valid setting', () => {
  const written = Object.fromEntries(
    Object.entries(settingsTable).flatMap(([name, { fallback }]) => (fallback === undefined ? [] : [[name, fallback]])),
  )

  assert.deepEqual(readConfig(written), readConfig({}))
})

test('the README stays short: at most 900 words', () => {
  const words = readme.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))

  assert.ok(words.length <= 900, `${words.length} words`)
})

const exempt = ['src/main.ts', 'src/platform/database/binaries.ts']

test('only main.ts reads settings from the environment', () => {
  const readers = sources('src/**/*.ts').filter(
    ({ path, text }) => !exempt.includes(path) && !path.endsWith('.test.ts') && text.includes('process.env'),
  )

  assert.deepEqual(
    readers.map(({ path }) => path),
    [],
  )
})
