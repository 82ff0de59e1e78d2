import { test } from 'node:test'
import assert from 'node:assert/strict'
import { fakeClock } from '../../test/support/clock.ts'
import { closedPort, rawReceiver } from '../../test/support/raw-receiver.ts'
import { dialer } from './sockets.ts'

const never = new AbortController().signal
const resolve = async () => [{ address: '127.0.0.1', family: 4 }]

test('an exempt host is reached, and TLS checks its certificate', async (t) => {
  const [plain, secure] = [await rawReceiver(t, () => undefined), await rawReceiver(t, () => undefined, { tls: true })]
  const dial = dialer({ clock: fakeClock(), resolve, allowed_hosts: [plain.host, secure.host] })

  const socket = await dial({ host: '127.0.0.1', port: plain.port, tls: false, signal: never })
  t.after(() => socket.destroy())

  assert.equal(socket.remotePort, plain.port)
  await assert.rejects(dial({ host: '127.0.0.1', port: secure.port, tls: true, signal: never }))
})

test('addresses that are not public are refused, literal and resolved', async () => {
  const dial = dialer({ clock: fakeClock(), resolve, allowed_hosts: [] })

  await assert.rejects(dial({ host: '127.0.0.1', port: 2775, tls: false, signal: never }), /not a public address/)
  await assert.rejects(dial({ host: 'smsc.example', port: 2775, tls: false, signal: never }), /not a public address/)
})

test('a closed port and an aborted connection are errors', async () => {
  const port = await closedPort()
  const dial = dialer({ clock: fakeClock(), resolve, allowed_hosts: [`127.0.0.1:${port}`] })

  await assert.rejects(dial({ host: '127.0.0.1', port, tls: false, signal: never }), /ECONNREFUSED/)
  await assert.rejects(dial({ host: '127.0.0.1', port, tls: false, signal: AbortSignal.abort() }))
})
