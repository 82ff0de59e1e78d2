/** Sizes of files and functions. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { productSources as serviceSources, sources } from './sources.ts'

const productSources = () => [...serviceSources(), ...sources('clients/typescript/src/*.ts')]

const consoleSources = () => sources('console/src/**/*.{ts,tsx}').filter(({ path }) => !path.includes('/generated/'))
const clientEntrance = 'clients/typescript/src/index.ts'

test('a source file opens with a sentence that says what it is for', () => {
  const silent = [...productSources(), ...consoleSources()].filter(
    ({ text }) => !text.startsWith('/**') && !text.startsWith('#!'),
  )

  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  )
})

test('no file is named utils, helpers, common or index', () => {
  const vague = productSources().filter(
    ({ path }) => /\/(utils?|helpers?|common|misc|index|manager)\.ts$/.test(path) && path !== clientEntrance,
  )

  assert.deepEqual(
    vague.map(({ path }) => path),
    [],
  )
})
