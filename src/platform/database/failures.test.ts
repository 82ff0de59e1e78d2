/** Which errors are the database's, and which only look like it. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import test from 'node:test'
import { within } from '../../../test/kit/waiting.ts'
import { problemOf } from '../http/envelope.ts'
import { isUnreachable, neverSent } from './failures.ts'

const nowhere = '/nowhere/.s.PGSQL.5432'

test('a socket that is not there is a database that cannot be asked; a file that is not there is a bug of ours', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  connect(nowhere).once('error', resolve)
  const ofSocket = await within('the socket to fail', promise)
  const ofFile = await readFile(nowhere).catch((error: unknown) => error)

  assert.deepEqual([isUnreachable(ofSocket), neverSent(ofSocket), problemOf(ofSocket)?.code], [true, true, 'upstream_unavailable'])
  assert.deepEqual([isUnreachable(ofFile), neverSent(ofFile), problemOf(ofFile)], [false, false, undefined])
})
