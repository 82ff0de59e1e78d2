/** The time comes from a clock that is passed in. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { productSources, sources, withoutComments, type Source } from './sources.ts'

/** The clock itself, the log, and measurements. */
const clocks = ['src/lib/clock.ts', 'src/platform/observability/log.ts']

test('only the clock reads the time', () => {
  const breaches = productSources()
    .filter(({ path }) => !clocks.includes(path))
    .flatMap((source) => lines(source, /\bDate\.now\(|\bnew Date\(\s*\)|Temporal\.Now\b/))

  assert.deepEqual(breaches, [])
})

test('only the clock sleeps', () => {
  const breaches = productSources()
    .filter(({ path }) => !clocks.includes(path))
    .flatMap((source) => lines(source, /\bset(Timeout|Interval)\(|timers\/promises|AbortSignal\.timeout\(/))

  assert.deepEqual(breaches, [])
})

test('no SQL reads the time of the database', () => {
  const sql =
    /\b(now\(\)|current_timestamp\b|localtimestamp\b|transaction_timestamp\(|statement_timestamp\(|clock_timestamp\()/i
  const all = [...productSources(), ...sources('migrations/*.sql')]
  // clock-sync measures the offset to the database's clock
  const breaches = all
    .filter(({ path }) => !path.endsWith('/clock-sync.ts'))
    .flatMap((source) =>
      lines({ ...source, text: source.path.endsWith('.ts') ? templatesOf(source.text) : source.text }, sql),
    )

  assert.deepEqual(breaches, [])
})

function lines({ path, text }: Source, pattern: RegExp): string[] {
  return withoutComments(text)
    .split('\n')
    .flatMap((line, at) => (pattern.test(line.replace(/--.*$/, '')) ? [`${path}:${at + 1} ${line.trim()}`] : []))
}

function templatesOf(text: string): string {
  const plain = withoutComments(text).replaceAll(/\$\{[^{}`]*\}/g, '')
  return plain
    .split('`')
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/[^\n]/g, '')))
    .join('')
}
