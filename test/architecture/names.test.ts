/** Each kind of name has one casing. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { sources, withoutComments } from './sources.ts'

const numericConstant =
  /^(?:export )?const (\w+)(?:: number)? = -?(?:\d[\d_.e]*|0x[\da-f_]+)(?:\s*[-+*/]+\s*[\w.]+)*\s*(?:as const)?$/gim

test('numeric constants are camelCase, with their unit', () => {
  const breaches = sources('src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts').flatMap(
    ({ path, text }) =>
      [...withoutComments(text).matchAll(numericConstant)]
        .filter(([, name]) => name!.includes('_'))
        .map(([, name]) => `${path} ${name}`),
  )

  assert.deepEqual(breaches, [])
})
