import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../test/kit/world.ts'
import { makeLog } from './log.ts'

test('an error is logged without the values of the row that brought it about', async (t) => {
  const { pool } = await startPlatform(t)
  const lines: string[] = []
  const log = makeLog('info', { write: (line) => void lines.push(line) })
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
