import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import test from 'node:test'
import { within } from '../../test/support/waiting.ts'
import { freePort } from './free-port.ts'

test('a free port can be listened on, and is none that an outgoing connection would take before', async (t) => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  t.after(() => server.close())

  await within('the server to listen', once(server, 'listening'))

  assert.ok(port < 32_768)
})

test('a host that is none of this machine is refused', async () => {
  await assert.rejects(freePort('203.0.113.1'), { code: 'EADDRNOTAVAIL' })
})
