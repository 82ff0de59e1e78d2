/** Database errors, and errors that only look like them. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import test from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { testPool } from '../../../test/support/pool.ts'
import { within } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { problemOf } from '../http/responses.ts'
import { isUnreachable, neverSent } from './failures.ts'
import { sqlState } from './sql.ts'

const nowhere = '/nowhere/.s.PGSQL.5432'

test('a missing socket is an unreachable database; a missing file is not', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  connect(nowhere).once('error', resolve)
  const ofSocket = await within('the socket to fail', promise)
  const ofFile = await readFile(nowhere).catch((error: unknown) => error)

  assert.deepEqual(
    [isUnreachable(ofSocket), neverSent(ofSocket), problemOf(ofSocket)?.code],
    [true, true, 'upstream_unavailable'],
  )
  assert.deepEqual([isUnreachable(ofFile), neverSent(ofFile), problemOf(ofFile)], [false, false, undefined])
})

test('a refused login is an unreachable database; the same code in a statement is not', async (t) => {
  const { pool, database_url } = await startPlatform(t)
  const stranger = testPool(new URL('/no_such_database', database_url).href, { max: 1 })
  closing(t, () => stranger.end({ timeout: 1 }))
  const failureOf = async (statement: PromiseLike<unknown>): Promise<unknown> =>
    await Promise.resolve(statement).catch((error: unknown) => error)

  const ofLogin = await failureOf(stranger`select 1`)
  const ofStatement = await failureOf(pool`select lastval()`)

  assert.deepEqual([sqlState(ofLogin), isUnreachable(ofLogin)], ['3D000', true])
  assert.deepEqual([sqlState(ofStatement), isUnreachable(ofStatement)], ['55000', false])
})
