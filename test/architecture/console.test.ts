/** What holds for the console's sources: a client without privileges, whose words stand in one place. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, sources, withoutComments, type Source } from './sources.ts'

const catalogue = 'console/src/text/en.ts'
const written = (): Source[] => sources('console/src/**/*.{ts,tsx}').filter(({ path }) => !path.includes('/generated/'))
const breachesOf = (files: readonly Source[], pattern: RegExp): string[] =>
  files.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(pattern)].map(([found]) => `${path}: ${found.trim().slice(0, 80)}`),
  )

test("the console's sources hold their types", { skip: !existsSync(join(root, 'console')) }, () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', 'console'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )

  assert.equal(status, 0, stdout)
})

test('the console imports nothing from outside of its folder but packages', () => {
  const breaches = written().flatMap(({ path, text }) =>
    [...text.matchAll(/from '(\.[^']*)'|import\('(\.[^']*)'\)/g)]
      .map((match) => match[1] ?? match[2]!)
      .filter((target) => !join('/', path, '..', target).startsWith('/console/src/'))
      .map((target) => `${path} → ${target}`),
  )

  assert.deepEqual(breaches, [])
})

test('no text outside of the catalogue', () => {
  const screens = written().filter(({ path }) => path.endsWith('.tsx'))
  // words between tags, and in the attributes that are read or shown
  const words = breachesOf(screens, /(?<![=-])>[^<>{}=;()]*[A-Za-z]{2,}[^<>{}=;()]*<\//g)
  const attributes = breachesOf(
    screens,
    /\b(?:label|title|placeholder|description|alt|name|aria-label|aria-description)="[^"]*[A-Za-z]{2,}[^"]*"/g,
  )

  assert.deepEqual([...words, ...attributes], [])
})

test('addresses of the console are built in one place', () => {
  const others = written().filter(
    ({ path }) =>
      !['console/src/app/paths.ts', 'console/src/app/router.tsx', catalogue].includes(path) &&
      !path.startsWith('console/src/api/'),
  )

  assert.deepEqual(breachesOf(others, /\b(?:to|href)=(?:"\/(?!docs)|\{`\/(?!docs))[^"`]*/g), [])
})

test('nothing is put into a page as HTML', () => {
  assert.deepEqual(breachesOf(written(), /dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML|document\.write/g), [])
})
