/** Inbound files, killed processes and slow readers (behaviour: channels 8). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { request } from 'undici'
import { hmacHex } from '../../src/lib/hmac.ts'
import { closing } from '../support/closing.ts'
import { patientServer } from '../support/patient-server.ts'
import { serviceProcess } from '../support/service.ts'
import { until, within } from '../support/waiting.ts'

const bytes = 30 * 1024 * 1024
const film = Buffer.alloc(bytes, 'posthorn ')
const secret = 'callback-s3cret-4711'

test('a copy interrupted by a kill is repeated, no partial file is served, and a slow reader uses no memory', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-media-'))
  closing(t, () => rm(dataDir, { recursive: true, force: true }))
  const half = Promise.withResolvers<void>()
  const answers: ((response: ServerResponse) => unknown)[] = [
    (response) => response.write(film.subarray(0, bytes / 2), () => half.resolve()),
    (response) => response.end(film),
  ]
  const provider = patientServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes })
    answers.shift()!(response)
  }).listen(0, '127.0.0.1')
  await within('the provider to listen', once(provider, 'listening'))
  closing(t, () => {
    provider.closeAllConnections()
    provider.close()
  })
  const host = `127.0.0.1:${(provider.address() as AddressInfo).port}`
  const service = await serviceProcess(dataDir, {
    POSTHORN_SIMULATOR: 'true',
    POSTHORN_WEBHOOK_ALLOWED_HOSTS: host,
    POSTHORN_LOG_LEVEL: 'trace',
  })
  closing(t, () => service.stop())
  await service.start()
  const accounts = JSON.parse((await service.command('accounts', 'list', '--json')).stdout)
  const { key } = JSON.parse(
    (await service.command('keys', 'create', '--account', accounts[0].id, '--mode', 'live', '--json')).stdout,
  )
  const api = service.api(key)
  const creation = {
    type: 'whatsapp',
    provider: 'simulator',
    name: 'Inbox',
    identifier: '+4915100000001',
    credentials: { callback_secret: secret },
  }
  const { body: channel } = await api.post('/v1/channels', creation)
  const report = {
    kind: 'inbound',
    provider_id: 'in-1',
    from: '+4915112345678',
    type: 'attachments',
    content: [{ type: 'video' }],
  }
  const body = JSON.stringify({
    reports: [{ ...report, media: [{ index: 0, reference: { url: `http://${host}/film` } }] }],
  })
  await service.api().post(`/hooks/channels/${channel.id}`, body, { 'x-simulator-signature': hmacHex(secret, body) })

  await within('half of the file to be sent', half.promise)
  const begun = await readdir(join(dataDir, 'media/incoming'))
  await service.kill('service')
  await service.start()
  const [message] = (await api.get('/v1/messages?direction=inbound')).body.data
  const { url } = message.content.attachments[0] as { url: string }
  const seen = new Set<number>()
  const file = await until(
    'the file to be copied again',
    async () => {
      const answer = await request(url)
      seen.add(answer.statusCode)
      return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) }
    },
    ({ status }) => status === 200,
  )
  const doctor = await service.command('doctor', '--json')

  assert.equal(begun.length, 1)
  assert.deepEqual(
    [...seen].filter((status) => status !== 503),
    [200],
  )
  assert.equal(file.body.equals(film), true)
  assert.equal(doctor.status, 0, doctor.stdout)

  // a reader that accepts only the head of the answer
  const before = await residentBytes(service.base_url)
  const readers = Array.from({ length: 20 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
  for (const reader of readers) {
    reader.on('error', () => undefined)
    reader.write(`GET ${new URL(url).pathname}${new URL(url).search} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await within('the answer to begin', once(reader, 'readable'))
  }
  const grown = (await residentBytes(service.base_url)) - before
  for (const reader of readers) reader.destroy()

  assert.ok(grown < 200 * 1024 * 1024, `20 readers of ${bytes} bytes cost ${grown} bytes`)
  assert.doesNotMatch(service.errors(), new RegExp(secret), 'the log holds a credential')
})

async function residentBytes(base_url: string): Promise<number> {
  const text = await (await request(`${base_url}/metrics`)).body.text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)![1])
}
