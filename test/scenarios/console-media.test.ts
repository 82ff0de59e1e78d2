/** Files uploaded by members (behaviour: console 7.6) (behaviour: channels 8.8). */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request } from 'undici'
import { consoleClient, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { s3Keys, s3Simulator } from '../support/simulators/s3.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld, type PlatformOptions, type World } from '../support/world.ts'

const day = 24 * 3600_000
const hour = 3600_000
const megabyte = 1024 * 1024
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(3000, 7)])
const boundary = 'a-boundary'

const form = (bytes: string | Uint8Array, { filename = 'picture.png', field = 'file', type = 'image/png' } = {}) =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${filename}"\r\ncontent-type: ${type}\r\n\r\n`,
    ),
    Buffer.from(bytes),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])

const post = (client: ConsoleClient, body: Uint8Array, headers: Record<string, string> = {}) =>
  client.send('POST', '/media', body, { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers })

async function start(t: TestContext, settings: PlatformOptions['settings'] = {}) {
  const world = await startWorld(t, { settings })
  const account = await world.account()
  return { world, account, client: await signedInOwner(world) }
}

async function get(world: World, url: string) {
  const answer = await request(world.base_url + url.replace(world.platform.settings.base_url, ''))
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) }
}

const periodicJob = async (world: World, name: string) =>
  await world.app.periodicJobs.find((one) => one.name === name)!.run()

const filesOf = async (world: World) =>
  (
    await readdir(join(world.platform.settings.data_dir, 'media'), { recursive: true, withFileTypes: true }).catch(
      () => [],
    )
  ).filter((entry) => entry.isFile())
const rowsOf = async (world: World): Promise<number> =>
  (await world.pool<{ n: number }[]>`select count(*)::int as n from media_files`)[0]!.n

test('an uploaded file has a public download address until it is deleted', async (t) => {
  const { world, account, client } = await start(t)
  const key = { 'idempotency-key': 'once' }
  const made = await post(client, form(png, { filename: '../Umzug (Bär).png' }), key)
  const again = await post(client, form(png, { filename: '../Umzug (Bär).png' }), key)
  const other = await post(client, form(png.toReversed(), { filename: '../Umzug (Bär).png' }), key)
  const { url, expires_at, id } = made.body
  const served = await get(world, url)
  const foreign = await get(
    world,
    url.replace(/signature=(.)/, (_: string, first: string) => `signature=${first === 'A' ? 'B' : 'A'}`),
  )
  const entries = await client.send('GET', '/audit_entries')

  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.deepEqual(
    [made.body.type, made.body.content_type, made.body.size, made.body.filename],
    ['image', 'image/png', png.length, 'Umzug (Bär).png'],
  )
  assert.ok(url.startsWith(`${world.platform.settings.base_url}/media/${id}?`), url)
  assert.ok(Math.abs(Date.parse(expires_at) - world.clock.now() - 30 * day) < hour, expires_at)
  assert.deepEqual([again.status, again.body], [201, made.body])
  assert.deepEqual([other.status, other.body.error.code], [409, 'idempotency_key_reused'])
  assert.deepEqual([served.status, served.body.equals(png), served.headers['content-type']], [200, true, 'image/png'])
  assert.match(String(served.headers['content-disposition']), /^attachment; filename\*=UTF-8''/)
  assert.deepEqual(
    [served.headers['x-content-type-options'], served.headers['content-security-policy']],
    ['nosniff', "sandbox; default-src 'none'"],
  )
  assert.equal(foreign.status, 404)
  const [entry, ...more] = entries.body.data.filter(({ action }: { action: string }) => action === 'media.create')
  assert.deepEqual([entry.object_id, more], [id, []])
  await world.invariants()
  const sent = await account.api.post('/v1/messages', {
    channel: 'ch_test_whatsapp',
    to: '+15005550006',
    type: 'attachments',
    attachments: [{ type: 'image', url }],
  })
  const plain = { type: 'image', url: url.replace('/media/', '/files/') }
  const elsewhere = await account.api.post('/v1/messages', {
    channel: 'ch_test_whatsapp',
    to: '+15005550006',
    type: 'attachments',
    attachments: [plain],
  })
  assert.deepEqual([sent.status, elsewhere.status, elsewhere.body.error.param], [202, 400, 'attachments[0].url'])

  await world.clock.advance(30 * day - hour)
  await periodicJob(world, 'delete-old-media')
  assert.equal((await get(world, url)).status, 200)
  await world.clock.advance(2 * hour)
  assert.equal((await get(world, url)).status, 404)
  await periodicJob(world, 'delete-old-media')
  assert.deepEqual([await rowsOf(world), await filesOf(world)], [0, []])
})

test("a file's type is determined from content and name; other types are refused and not stored", async (t) => {
  const { world, client } = await start(t)
  const ftyp = (brand: string) => `\0\0\0\x18ftyp${brand}\0\0\0\0`
  const zip = (name: string) => Buffer.from(`PK\x03\x04${'\0'.repeat(26)}${name}`, 'latin1')
  const taken: [string, string | Buffer, string, string][] = [
    ['a.jpeg', Buffer.from('\xff\xd8\xff\xe0', 'latin1'), 'image', 'image/jpeg'],
    ['a.jpg', png, 'image', 'image/png'],
    ['blob', png, 'image', 'image/png'],
    ['a.webp', 'RIFF\x01\0\0\0WEBPVP8 ', 'image', 'image/webp'],
    ['a.mp3', 'ID3\x03', 'audio', 'audio/mpeg'],
    ['a.ogg', 'OggS\0', 'audio', 'audio/ogg'],
    ['a.mp4', ftyp('isom'), 'video', 'video/mp4'],
    ['a.m4a', ftyp('mp42'), 'audio', 'audio/mp4'],
    ['A.PDF', '%PDF-1.7\n', 'document', 'application/pdf'],
    [
      'a.docx',
      zip('[Content_Types].xml'),
      'document',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    ['a.txt', 'Grüße\n', 'document', 'text/plain'],
    ['a.csv', 'a,b\n', 'document', 'text/csv'],
  ]
  for (const [filename, bytes, ...reported] of taken) {
    const { status, body } = await post(client, form(bytes, { filename, type: 'text/html' }))
    assert.deepEqual([status, body.type, body.content_type], [201, ...reported], filename)
  }
  const [rows, files] = [await rowsOf(world), (await filesOf(world)).length]

  const html = '<!doctype html><script>alert(1)</script>'
  const refused: [string, string | Buffer][] = [
    ['a.html', html],
    ['a.txt', html],
    ['a.png', html],
    ['a.txt', '\ufeff \n<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['a.js', 'alert(1)'],
    ['a.html', png],
    ['a.pdf', png],
    ['a.txt', '#!/bin/sh\n'],
    ['a.txt', 'MZ\0\x01'],
    ['a.zip', zip('a.exe')],
    ['a.docx', zip('a.exe')],
    ['a.png', ''],
  ]
  for (const [filename, bytes] of refused) {
    const { status, body } = await post(client, form(bytes, { filename }))
    assert.deepEqual([status, body.error?.code, body.error?.param], [400, 'parameter_invalid', 'file'], filename)
  }
  const odd = [
    await post(client, form(png, { field: 'picture' })),
    await post(
      client,
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"\r\n\r\ntext\r\n--${boundary}--\r\n`),
    ),
    await post(client, Buffer.from(`--${boundary}--\r\n`)),
    await client.send('POST', '/media', png, { 'content-type': 'image/png' }),
    await client.send('POST', '/media', {}),
  ]
  assert.deepEqual(
    odd.map(({ status, body }) => [status, body.error.code, body.error.param ?? null]),
    [
      [400, 'parameter_invalid', 'picture'],
      [400, 'parameter_invalid', 'file'],
      [400, 'parameter_missing', 'file'],
      [400, 'invalid_json', null],
      [400, 'invalid_json', null],
    ],
  )
  assert.deepEqual([await rowsOf(world), (await filesOf(world)).length], [rows, files])
})

test('a file that is too large, truncated or abandoned by its process leaves nothing', async (t) => {
  const { world, client } = await start(t)
  const large = await post(client, form(Buffer.concat([png, Buffer.alloc(25 * megabyte)])))

  const whole = form(png)
  const socket = connect(Number(new URL(world.base_url).port), '127.0.0.1')
  const head = [
    'POST /console/api/media HTTP/1.1',
    'host: localhost',
    `cookie: ${client.cookie}`,
    'service-console: 1',
    `service-account: ${client.account}`,
    'service-mode: test',
    `content-type: multipart/form-data; boundary=${boundary}`,
    `content-length: ${whole.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(whole.subarray(0, 2000))
  await until('the upload to begin, whose file follows its row', async () => (await filesOf(world)).length === 1)
  await periodicJob(world, 'discard-unfinished-media')
  const kept = (await filesOf(world)).length
  socket.destroy()
  await until('the upload to be given up', async () => (await rowsOf(world)) === 0)

  assert.deepEqual([large.status, large.body.error.code], [413, 'payload_too_large'])
  assert.equal(kept, 1)
  assert.deepEqual(await filesOf(world), [])

  await world.pool`
    insert into media_files (account_id, mode, id, kind, status, store, next_run_at, created_at)
    select account_id, 'test', 'med_00000000000000000000000000', 'image', 'uploading', 'folder', ${new Date(world.clock.now())}, ${new Date(world.clock.now())} from api_keys limit 1`
  await periodicJob(world, 'delete-old-media')
  const early = await rowsOf(world)
  await world.clock.advance(hour + 60_000)
  await periodicJob(world, 'delete-old-media')
  assert.deepEqual([early, await rowsOf(world)], [1, 0])
})

test('uploads are stored in the bucket if one is configured', async (t) => {
  const s3 = await s3Simulator(t)
  const { world, client } = await start(t, { media_s3: { ...s3Keys, url: s3.url } })
  const made = await post(client, form(png))
  const served = await within('the file', get(world, made.body.url))

  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.deepEqual([served.status, served.body.equals(png)], [200, true])
  assert.deepEqual(await filesOf(world), [])
})

test('uploading needs permission to write messages or campaigns', async (t) => {
  const { world, client } = await start(t)
  const answers: Record<string, number[]> = {}
  for (const role of ['marketer', 'agent', 'developer', 'finance', 'viewer']) {
    await world.pool`update memberships set role = ${role}`
    answers[role] = []
    for (const mode of ['live', 'test'] as const) {
      client.mode = mode
      answers[role].push((await post(client, form(png))).status)
    }
  }
  const nobody = await post(consoleClient(world), form(png))

  assert.deepEqual(answers, {
    marketer: [201, 201],
    agent: [201, 201],
    developer: [403, 201],
    finance: [403, 403],
    viewer: [403, 403],
  })
  assert.equal(nobody.status, 401)
})

test('the files of an account have a limited size, and an upload that does not fit is refused', async (t) => {
  const { client } = await start(t, { media_stored_bytes_max: 5_000 })

  const [first, second] = [await post(client, form(png)), await post(client, form(png))]

  assert.deepEqual([first.status, second.status, second.body.error?.code], [201, 413, 'payload_too_large'])
  assert.match(second.body.error.message, /Wait until older files expire/)
})
