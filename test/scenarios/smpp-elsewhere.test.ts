/** SMPP with an independent SMSC: the example of Debian's libnet-smpp-perl. Skipped if not installed. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { ownPort } from '../support/own-port.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const installed = spawnSync('perl', ['-MNet::SMPP', '-e', '1']).status === 0
const skip = installed ? false : 'Net::SMPP is not installed (apt-get install libnet-smpp-perl)'
const example = '/usr/share/doc/libnet-smpp-perl/examples/smsc.pl'
const person = '+4915112345678'

function perl(t: TestContext, script: string, input?: string): string[] {
  const child = spawn('perl', [script], { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  child.stdin.end(input)
  t.after(async () => {
    const gone = new Promise((resolve) => child.once('close', resolve))
    process.kill(-child.pid!, 'SIGKILL')
    await within('the SMSC to end', gone)
  })
  return lines
}

async function channelOn(t: TestContext, port: number) {
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [`127.0.0.1:${port}`] } })
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const connecting = (password: string) =>
    api.post('/v1/channels', {
      type: 'sms',
      provider: 'smpp',
      name: 'Alerts',
      identifier: '+4915100000001',
      credentials: { host: '127.0.0.1', port, system_id: 'shop', password },
      settings: { enquire_link_seconds: 600 },
    })
  return {
    world,
    api,
    connecting,
    send: async (channel: string, body: string) =>
      (await api.post('/v1/messages', { channel, to: person, type: 'text', text: { body } })).body.id as string,
    statusOf: async (id: string) => {
      // a receipt may precede the record of its message; it is matched again later
      await world.clock.advance(250)
      await world.settle()
      return (await api.get(`/v1/messages/${id}`)).body.status as string
    },
  }
}

test('texts, both receipt formats and a multi-part reply work with an SMSC on Net::SMPP', { skip }, async (t) => {
  const lines = perl(t, join(import.meta.dirname, '../fixtures/smsc.pl'))
  const listening = await until('the SMSC to listen', () => lines[0], Boolean)
  const { world, api, connecting, send, statusOf } = await channelOn(t, Number(listening!.split(' ')[1]))

  const wrong = await connecting('wrong')
  const { body: channel } = await connecting('secret')
  const ids = []
  for (const body of ['ping', '{€}', '日本', 'x'.repeat(161)]) ids.push(await send(channel.id, body))
  await world.settle()
  for (const id of ids)
    await until(
      'a receipt',
      () => statusOf(id),
      (status) => status === 'delivered',
    )
  const [inbound] = (await api.get('/v1/messages?direction=inbound')).body.data

  assert.deepEqual([wrong.status, wrong.body.error.code], [422, 'upstream_rejected'])
  assert.deepEqual(
    lines.filter((line) => line.startsWith('submitted')).map((line) => line.split(' ').slice(1, 4).join(' ')),
    ['0 0 4915112345678', '0 0 4915112345678', '8 0 4915112345678', '0 64 4915112345678', '0 64 4915112345678'],
  )
  assert.deepEqual([inbound.from, inbound.content.text.body], [person, `${'a'.repeat(152)}the end`])
  await until(
    'every delivery to be answered',
    () => lines.filter((line) => line === 'answered 0').length,
    (count) => count === 7,
  )
  await world.invariants()
})

test(
  'the example SMSC of Net::SMPP accepts a message',
  { skip: skip === false && !existsSync(example) ? `${example} is missing` : skip },
  async (t) => {
    const port = await ownPort()
    perl(t, '-', (await readFile(example, 'utf8')).replace('$port = 9900', `$port = ${port}`))
    await until('the SMSC to listen', () => isOpen(port))
    const { connecting, send, statusOf } = await channelOn(t, port)

    const { body: channel } = await connecting('secret')
    const id = await send(channel.id, 'Hi')

    assert.equal(await statusOf(id), 'sent')
  },
)

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false))
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
