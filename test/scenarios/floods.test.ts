/** A client that sends too much, too slowly or without end uses only its own share. */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { closing } from '../support/closing.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const megabyte = 1024 * 1024

interface Line {
  readonly socket: Socket
  text: string
}

function open(t: TestContext, base_url: string): Line {
  const { hostname, port } = new URL(base_url)
  const line: Line = { socket: connect(Number(port), hostname), text: '' }
  line.socket.on('data', (bytes) => (line.text += bytes.toString())).on('error', () => undefined)
  closing(t, () => line.socket.destroy())
  return line
}

const head = (path: string, more: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}\r\n\r\n`

const statusOf = ({ text }: Line): string | undefined => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1]

test('a callback for an unknown channel is refused before its body is read', async (t) => {
  const world = await startWorld(t)
  const line = open(t, world.base_url)

  line.socket.write(head('/hooks/channels/ch_01kg9p6je0e6z9vsnhtbf6d24v', `Content-Length: ${3 * megabyte}`))
  const text = await until(
    'an answer to the head alone',
    () => line.text,
    (answered) => answered.includes('\r\n\r\n'),
  )

  assert.match(text, /^HTTP\/1\.1 404 /)
})

test('an account has at most 64 MB of unfinished bodies: the oldest are refused, and other requests work', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_messages: 1_000 } })
  const [{ key }, neighbour] = [await world.account(), await world.account()]
  const part = Buffer.alloc(megabyte - 1, 0x20)
  const lines: Line[] = []
  for (let count = 0; count < 70; count++) {
    const line = open(t, world.base_url)
    lines.push(line)
    line.socket.write(head('/v1/messages', `Authorization: Bearer ${key}\r\nContent-Length: ${megabyte}`))
    await within('a body to be on its way', new Promise<void>((resolve) => line.socket.write(part, () => resolve())))
  }

  const refused = await until(
    'what is over the room to be refused',
    () => lines.filter((line) => statusOf(line) !== undefined),
    ({ length }) => length >= 5,
  )
  const sent = await neighbour.api.post('/v1/messages', {
    channel: 'ch_test_whatsapp',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hello' },
  })

  assert.equal(sent.status, 202)
  assert.deepEqual([...new Set(refused.map(statusOf))], ['429'])
  assert.ok(refused.length <= 8, `${refused.length} were refused`)
  assert.match(refused[0]!.text, /"code":"rate_limit_exceeded"/)
  assert.match(refused[0]!.text, /retry-after: 1\r\n/i)
})

test('the files of an account with many imports alternate with those of another account', async (t) => {
  const world = await startWorld(t)
  const [first, second] = [await world.account(), await world.account()]
  const file = (n: number) => `phone\n+1500555${1000 + n}\n`
  const send = async (api: typeof first.api, n: number): Promise<string> =>
    (await api.send('POST', '/v1/contact_imports?consent_declared=true', { 'content-type': 'text/csv' }, file(n))).body
      .id
  for (let n = 0; n < 5; n++) await send(first.api, n)
  const id = await send(second.api, 9)

  await world.tick('imports')
  await world.tick('imports')

  assert.equal((await second.api.get(`/v1/contact_imports/${id}`)).body.status, 'completed')
  const others = await first.api.get('/v1/contact_imports?status=completed')
  assert.equal(others.body.data.length, 1)
})
