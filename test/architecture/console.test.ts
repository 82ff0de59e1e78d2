/** The console's sources: no privileges, texts in one place. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { sources, withoutComments, type Source } from './sources.ts'
import { importsOf } from './syntax.ts'

const catalogue = 'console/src/text/en.ts'
const written = (): Source[] => sources('console/src/**/*.{ts,tsx}').filter(({ path }) => !path.includes('/generated/'))
const breachesOf = (files: readonly Source[], pattern: RegExp): string[] =>
  files.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(pattern)].map(([found]) => `${path}: ${found.trim().slice(0, 80)}`),
  )

test('the console imports only packages and its own folder', () => {
  const breaches = written()
    .flatMap(importsOf)
    .filter(({ to }) => to !== undefined && !to.startsWith('console/src/'))

  assert.deepEqual(
    breaches.map(({ from, specifier }) => `${from} → ${specifier}`),
    [],
  )
})

test('no text outside of the text folder', () => {
  const screens = written().filter(({ path }) => path.endsWith('.tsx'))
  const words = breachesOf(screens, /(?<![=-])>[^<>{}=;()]*[A-Za-z]{2,}[^<>{}=;()]*<\//g)
  const attributes = breachesOf(
    screens,
    /\b(?:label|title|placeholder|description|alt|name|aria-label|aria-description)="[^"]*[A-Za-z]{2,}[^"]*"/g,
  )

  assert.deepEqual([...words, ...attributes], [])
})

test('paths of the console are built in one place', () => {
  const others = written().filter(
    ({ path }) =>
      !['console/src/app/paths.ts', 'console/src/app/router.tsx', catalogue].includes(path) &&
      !path.startsWith('console/src/api/'),
  )

  assert.deepEqual(breachesOf(others, /\b(?:to|href)=(?:"\/(?!docs)|\{`\/(?!docs))[^"`]*/g), [])
})

test('nothing is inserted into a page as HTML', () => {
  assert.deepEqual(breachesOf(written(), /dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML|document\.write/g), [])
})
