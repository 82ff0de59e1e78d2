import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { ownPort } from './own-port.ts'
import { within } from './waiting.ts'

test('a reserved port is given to no other test, in any process, even without a listener', async () => {
  const port = await ownPort()
  const source = `
    import { ownPort } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'own-port.ts')).href)}
    await ownPort([${port}, ${port}]).then(console.log, ({ message }) => console.log(message))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [elsewhere] = await within('the other process to end', Promise.all([text(child.stdout), once(child, 'exit')]))

  await assert.rejects(ownPort([port, port]), /^Error: none of 200 ports/)
  assert.match(elsewhere, /^none of 200 ports/)
})
