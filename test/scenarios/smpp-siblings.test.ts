/** SMPP channels of one operator account share receipts. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { smsc, type Smsc } from '../support/simulators/smsc.ts'
import { until } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const person = '+4915112345678'
const senders = { first: '+4915100000001', second: '+4915100000002' }

async function smscWorld(t: TestContext, ids: readonly string[]) {
  const sim = await smsc(t, { bindsMax: 10, id: (nth) => ids[nth - 1] ?? `more${nth}` })
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [sim.host] } })
  const account = async () => (await world.account({ mode: 'live', credit_micros: 1_000_000 })).api
  const connect = async (api: Awaited<ReturnType<typeof account>>, identifier: string) => {
    const bound = sim.bound()
    const { body, status } = await api.post('/v1/channels', {
      type: 'sms',
      provider: 'smpp',
      name: identifier,
      identifier,
      credentials: { host: '127.0.0.1', port: sim.port, system_id: 'shop', password: 'secret' },
      settings: { enquire_link_seconds: 600 },
    })
    assert.equal(status, 201)
    await until('the bind that tried the credentials to end', () => sim.bound() === bound)
    await world.tick('heartbeat', 'sessions')
    await until('the session', () => sim.bound() === bound + 1)
    return body.id as string
  }
  const send = async (api: Awaited<ReturnType<typeof account>>, channel: string, to = person) => {
    const { body } = await api.post('/v1/messages', { channel, to, type: 'text', text: { body: 'Hi' } })
    await world.settle()
    return body.id as string
  }
  const look = async (looks = 4) => {
    for (let n = 0; n < looks; n++) {
      await world.settle('callbacks')
      await world.clock.advance(1000)
    }
  }
  return { sim, world, account, connect, send, look }
}

const receiptOf = (sim: Smsc, id: string, stat: string, { to = senders.first, from = person } = {}) =>
  sim.deliver({
    source: from.replace('+', ''),
    destination: to.replace('+', ''),
    esm_class: 0x04,
    bytes: Buffer.from(
      `id:${id} sub:001 dlvrd:001 submit date:2601310930 done date:2601310931 stat:${stat} err:000 text:Hi`,
    ),
  })

test('a receipt over the session of another channel of the account finds its message, and a failure is refunded', async (t) => {
  const { sim, world, account, connect, send, look } = await smscWorld(t, ['f1', 'f2', 'f3'])
  const api = await account()
  const first = await connect(api, senders.first)
  await connect(api, senders.second)
  const ids = [await send(api, first), await send(api, first), await send(api, first)]

  await receiptOf(sim, 'f1', 'DELIVRD')
  await receiptOf(sim, 'f2', 'UNDELIV')
  // this operator does not name the sender
  await receiptOf(sim, String(0xf3), 'DELIVRD', { to: '' })
  await look()

  const messages = await Promise.all(ids.map(async (id) => (await api.get(`/v1/messages/${id}`)).body))
  assert.deepEqual(
    messages.map(({ status, billing }) => [status, billing.refunded]),
    [
      ['delivered', false],
      ['failed', true],
      ['delivered', false],
    ],
  )
  await world.invariants()
})

test('a receipt does not match a message of its channel with the same id in hex, or to another recipient', async (t) => {
  const { sim, account, connect, send, look } = await smscWorld(t, ['161', 'a1', '353', '597'])
  const api = await account()
  const first = await connect(api, senders.first)
  const second = await connect(api, senders.second)
  const meant = await send(api, first)
  const others = [await send(api, second), await send(api, second), await send(api, second, '+4915187654321')]

  await receiptOf(sim, '161', 'UNDELIV')
  // unknown messages: 255 is ff, and 597 is decimal for hex 255
  await receiptOf(sim, '255', 'UNDELIV', { to: '' })
  await look()

  const statusOf = async (id: string) => (await api.get(`/v1/messages/${id}`)).body.status
  assert.deepEqual(
    [await statusOf(meant), ...(await Promise.all(others.map(statusOf)))],
    ['failed', 'sent', 'sent', 'sent'],
  )
})

test('a receipt does not change a message of another customer with the same operator account', async (t) => {
  const { sim, account, connect, send, look } = await smscWorld(t, ['c1'])
  const [theirs, ours] = [await account(), await account()]
  const channel = await connect(theirs, senders.first)
  await connect(ours, senders.second)
  const id = await send(theirs, channel)

  await receiptOf(sim, 'c1', 'UNDELIV')
  await look()

  assert.equal((await theirs.get(`/v1/messages/${id}`)).body.status, 'sent')
})
