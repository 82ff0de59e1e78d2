/** The threat model names a test for every attack. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, sources } from './sources.ts'

const rowsOf = (text: string): string[] => [...text.matchAll(/^\| (?!Attack \|).+\|$/gm)].map(([row]) => row)

function wrongRow(row: string): string | null {
  const cells = row.slice(1, -1).split('|')
  if (cells.length !== 3) return `has ${cells.length} cells`
  const tests = [...cells[2]!.matchAll(/`([^`]+)`/g)].map(([, path]) => path!)
  if (tests.length === 0) return 'names no test'
  const missing = tests.find((path) => !path.endsWith('.test.ts') || !existsSync(join(root, path)))
  return missing === undefined ? null : `${missing} is no test`
}

test('every row of the threat model has a test', () => {
  const rows = sources('docs/reference/threat-model.md').flatMap(({ text }) => rowsOf(text))

  assert.ok(rows.length > 30, `${rows.length} rows`)
  assert.deepEqual(
    rows.flatMap((row) => wrongRow(row) ?? []),
    [],
  )
})

test('a row without an existing test is reported', () => {
  assert.equal(wrongRow('| a | b | `test/architecture/threat-model.test.ts` |'), null)
  assert.match(wrongRow('| a | b | by hand |')!, /names no test/)
  assert.match(wrongRow('| a | b | `test/architecture/nothing.test.ts` |')!, /nothing\.test\.ts is no test/)
  assert.match(wrongRow('| a | b | `src/app.ts` |')!, /src\/app\.ts is no test/)
  assert.match(wrongRow('| a | b |')!, /has 2 cells/)
})
