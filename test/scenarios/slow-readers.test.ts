/** Clients that never read delay nobody and use bounded memory (behaviour: operating 8). */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { closing } from '../support/closing.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const clients = 40
const aheadEach = 30
const growthMax = 400 * 1024 * 1024

function neverReading(t: TestContext, world: World, count: number, bytes: string): Socket[] {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(new URL(world.base_url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(bytes)
    return socket
  })
  closing(t, () => {
    for (const socket of sockets) socket.destroy()
    return Promise.resolve()
  })
  return sockets
}

const memory = (): number => {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('clients that never read are bounded in memory, while others are answered', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_default: 100_000 } })
  const [greedy, other] = [await world.account(), await world.account()]
  const messages = Array.from({ length: 50 }, () => ({
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'a' },
    metadata: { kept: 'm'.repeat(16_000) },
  }))
  for (let batches = 0; batches < 2; batches++)
    assert.equal((await greedy.api.post('/v1/messages/batch', { messages })).status, 207)
  const before = memory()
  let most = 0

  const ask = `GET /v1/messages?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy.key}\r\n\r\n`
  neverReading(t, world, clients, ask.repeat(aheadEach))
  const served = async () => {
    most = Math.max(most, memory() - before)
    return (
      /request_duration_seconds_count\{method="GET",route="\/v1\/messages",status="200"\} (\d+)/.exec(
        String((await world.api().get('/metrics')).body),
      )?.[1] ?? '0'
    )
  }
  let last = ''
  let same = 0
  await until('nothing more to be answered to those who do not read', served, (count) => {
    same = count === last ? same + 1 : 0
    last = count
    return Number(count) > 0 && same > 20
  })

  assert.ok(most < growthMax, `${Math.round(most / 1024 / 1024)} MB more were in use`)
  assert.ok(Number(last) < clients * aheadEach, `all ${last} were answered`)
  assert.equal((await other.api.get('/v1/me')).status, 200)
  assert.equal(
    (
      await other.api.post('/v1/messages', {
        channel: 'ch_test_sms',
        to: '+15005550006',
        type: 'text',
        text: { body: 'a' },
      })
    ).status,
    202,
  )
})

test('documents are in memory once, however many clients request and never read them', async (t) => {
  const world = await startWorld(t)
  assert.equal((await world.api().get('/docs/openapi.json')).status, 200)
  const before = memory()

  const sockets = neverReading(t, world, 30, 'GET /docs/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(aheadEach))
  await until('all to have sent their requests', () =>
    sockets.every((socket) => !socket.connecting && socket.writableLength === 0),
  )

  for (let times = 0; times < 20; times++) assert.equal((await world.api().get('/docs/errors')).status, 200)
  assert.ok(memory() - before < growthMax / 4, `${Math.round((memory() - before) / 1024 / 1024)} MB more are in use`)
})
