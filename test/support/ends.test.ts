/** What becomes of a test file that does not end. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { within } from './waiting.ts'

/** Runs a test file of this text, a second of which is a hundredth. */
async function ended(source: string): Promise<{ code: number; errors: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const watched = [
    '--import',
    pathToFileURL(join(import.meta.dirname, 'ends.ts')).href,
    '--input-type=module',
    '--eval',
    source,
  ]
  const child = spawn(process.execPath, watched, {
    env: { ...env, POSTHORN_TEST_END_TURN_MS: '10' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [errors, [code]] = await within(
    'the file to end',
    Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]),
  )
  return { code, errors }
}

test('a file that something left open keeps alive fails, and names it', async () => {
  const { code, errors } = await ended(`
    import { createServer } from 'node:net'
    import { test } from 'node:test'
    test('listens', () => void createServer().listen())`)

  assert.equal(code, 1)
  assert.match(errors, /has run its tests and does not end\. Still open: .*TCPServerWrap/)
})

test('a file that clears up for long at one go, and ends within a turn after that, ends well', async () => {
  const { code, errors } = await ended(`
    import { after, test } from 'node:test'
    test('passes', () => undefined)
    after((_context, done) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
      setImmediate(done)
    })`)

  assert.deepEqual([code, errors], [0, ''])
})

test('a file whose last test closes things for two minutes ends well', async () => {
  const { code, errors } = await ended(`
    import { test } from 'node:test'
    test('passes', (t) => t.after(() => new Promise((closed) => setTimeout(closed, 120 * 10))))`)

  assert.deepEqual([code, errors], [0, ''])
})
