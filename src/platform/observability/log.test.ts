import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../../test/support/world.ts'
import { makeLog } from './log.ts'

test('an error is logged without values of rows', async (t) => {
  const { pool } = await startPlatform(t)
  const lines: string[] = []
  const log = makeLog('info', 'json', { write: (line) => void lines.push(line) })
  await pool`create table people (phone text primary key)`
  await pool`insert into people values ('+4915112345678')`

  const taken = await pool`insert into people values ('+4915112345678')`.catch((error: unknown) => error)
  const malformed = await pool`select ${'+4915112345678x'}::text::integer`.catch((error: unknown) => error)
  log.error({ err: taken }, 'taken')
  log.error({ err: new Error('wrapped', { cause: malformed }) }, 'malformed')

  assert.doesNotMatch(lines.join(''), /4915112345678/)
  assert.equal(JSON.parse(lines[0]!).err.constraint_name, 'people_pkey')
  assert.match(JSON.parse(lines[1]!).err.cause.code, /^22/)
})

function written(format: 'json' | 'text', log: (log: ReturnType<typeof makeLog>) => void): string {
  const lines: string[] = []
  log(makeLog('info', format, { write: (line) => void lines.push(line) }))
  return lines.join('')
}

test('lines are JSON with level names', () => {
  const line = JSON.parse(written('json', (log) => log.warn({ status: 503 }, 'the database is away')))

  assert.deepEqual([line.level, line.status, line.msg], ['warn', 503, 'the database is away'])
  assert.match(line.time, /^\d{4}-\d\d-\d\dT/)
})

test('as text a line has time, level, message, fields, and the stack of an error', () => {
  const text = written('text', (log) => {
    log.info({ status: 404, route: '/v1/messages/{id}', client: 'a b' }, 'a request was refused')
    log.error({ err: new Error('out of order') }, 'a worker failed')
  })

  const [refused, failed, ...steps] = text.trimEnd().split('\n')
  assert.match(refused!, /^\S+Z INFO  a request was refused status=404 route=\/v1\/messages\/\{id\} client="a b"$/)
  assert.match(failed!, /^\S+Z ERROR a worker failed err=\{"type":"Error","message":"out of order"\}$/)
  assert.match(steps.join('\n'), /^ {2}Error: out of order\n {6}at /)
})

test('text from clients cannot move the cursor or add lines', () => {
  const text = written('text', (log) =>
    log.info({ client_request_id: '\u001B[2J\nERROR all is lost\u009B1A\u202E' }, 'a request was refused'),
  )

  assert.equal(text.trimEnd().split('\n').length, 1)
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(text.trimEnd(), /[\u0000-\u001F\u007F-\u009F\u202E]/)
})
