/** Inbound files: copied, served by signed addresses that expire, and deleted (behaviour: channels 8). */
import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request } from 'undici'
import { mediaService } from '../../src/modules/media/service.ts'
import { claimMedia } from '../../src/modules/media/repository.ts'
import { hmacHex } from '../../src/lib/hmac.ts'
import { closing } from '../support/closing.ts'
import { hostileAnswers, hostileServer } from '../support/hostile-server.ts'
import { patientServer } from '../support/patient-server.ts'
import { s3Keys, s3Simulator } from '../support/simulators/s3.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld, type PlatformOptions, type World } from '../support/world.ts'

const picture = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256))
const day = 24 * 3600_000

async function fileServer(t: TestContext, serve: RequestListener) {
  const server = patientServer(serve).listen(0, '127.0.0.1')
  await within('the provider to listen', once(server, 'listening'))
  closing(t, () => {
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}` }
}

const servePicture: RequestListener = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'image/png' }).end(picture)

async function mailbox(t: TestContext, hosts: readonly string[], settings: PlatformOptions['settings'] = {}) {
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: hosts, ...settings } })
  const { api } = await world.account({ mode: 'live' })
  const credentials = { callback_secret: 's3cret' }
  const { body: channel } = await api.post('/v1/channels', {
    type: 'whatsapp',
    provider: 'simulator',
    name: 'Inbox',
    identifier: '+4915100000001',
    credentials,
  })
  let shown = 0
  const callBack = async (content: readonly object[], media: unknown) => {
    const report = {
      kind: 'inbound',
      provider_id: `in-${++shown}`,
      from: '+4915112345678',
      profile_name: null,
      type: 'attachments',
      content,
      reply_to: null,
      media,
    }
    const body = JSON.stringify({ reports: [report] })
    await world.api().post(`/hooks/channels/${channel.id}`, body, { 'x-simulator-signature': hmacHex('s3cret', body) })
    await world.tick('callbacks')
    return (await api.get('/v1/messages?direction=inbound&limit=1')).body.data[0]
  }
  return {
    world,
    api,
    channel,
    callBack,
    one: (url: string, more: object = {}) => callBack([{ type: 'image', ...more }], [{ index: 0, reference: { url } }]),
  }
}

const pathOf = (world: World, url: string) => url.replace(world.platform.settings.base_url, '')

async function get(world: World, url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const answer = await request(world.base_url + pathOf(world, url), { method, headers })
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) }
}

/** The first answer after the copy; time advances between polls, and during one only if the provider may hang. */
const settled = async (world: World, url: string, steps_ms = 30_000, hangs = false) =>
  await until(
    'the file to be copied or given up',
    async () => {
      await world.tick('media')
      const answer = await get(world, url)
      if (answer.status === 503 && (hangs || !(await isBeingCopied(world, url)))) await world.clock.advance(steps_ms)
      return answer
    },
    ({ status }) => status !== 503,
  )

const isBeingCopied = async ({ pool }: World, url: string): Promise<boolean> => {
  const rows = await pool`select 1 from media_files where id = ${/med_\w{26}/.exec(url)![0]} and process_id is not null`
  return rows.length > 0
}

const mediaFiles = async ({ platform }: World) =>
  (
    await readdir(join(platform.settings.data_dir, 'media'), { recursive: true, withFileTypes: true }).catch(() => [])
  ).filter((entry) => entry.isFile())

test('an inbound file has an address of ours at once, is copied, and is served safely, whole or in parts', async (t) => {
  const provider = await fileServer(t, servePicture)
  const { world, api, one } = await mailbox(t, [provider.host])

  const message = await one(provider.url, { caption: 'Look' })
  const { url } = message.content.attachments[0]
  const early = await get(world, url)
  const file = await settled(world, url)
  const part = await get(world, url, { range: 'bytes=10-19' })
  const tail = await get(world, url, { range: 'bytes=-5' })
  const odd = await get(world, url, { range: 'bytes=99999999-' })
  const head = await get(world, url, {}, 'HEAD')
  const event = (await api.get('/v1/events?type=message.received')).body.data[0].data.object
  const fromEvent = await get(world, event.content.attachments[0].url)
  const folder = join(world.platform.settings.data_dir, 'media')

  assert.deepEqual([message.status, message.content.attachments[0].caption], ['received', 'Look'])
  assert.match(url, /^http:\/\/[^/]+\/media\/med_\w{26}\?expires=\d+&signature=[\w-]{44}$/)
  assert.deepEqual([early.status, early.headers['retry-after']], [503, '2'])
  assert.deepEqual([file.status, file.body.equals(picture)], [200, true])
  assert.deepEqual(
    ['content-type', 'x-content-type-options', 'content-security-policy', 'content-length'].map(
      (name) => file.headers[name],
    ),
    ['image/png', 'nosniff', "sandbox; default-src 'none'", '70000'],
  )
  assert.deepEqual(
    [part.status, part.headers['content-range'], part.body.equals(picture.subarray(10, 20))],
    [206, 'bytes 10-19/70000', true],
  )
  assert.deepEqual([tail.status, tail.body.equals(picture.subarray(-5))], [206, true])
  assert.deepEqual([odd.status, odd.body.length], [200, 70_000])
  assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '70000', 0])
  assert.equal(fromEvent.status, 200)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.equal((await mediaFiles(world)).length, 1)
  await world.invariants()
})

test('an address is valid for a day, a read returns a new one, and that in an event is valid for a week', async (t) => {
  const provider = await fileServer(t, servePicture)
  const { world, api, one } = await mailbox(t, [provider.host])
  const message = await one(provider.url)
  const { url } = message.content.attachments[0]
  await settled(world, url)
  const event = (await api.get('/v1/events?type=message.received')).body.data[0].data.object.content.attachments[0].url

  await world.clock.advance(day + 60_000)
  const [old, week] = [await get(world, url), await get(world, event)]
  const fresh = (await api.get(`/v1/messages/${message.id}`)).body.content.attachments[0].url
  const listed = (await api.get('/v1/messages')).body.data[0].content.attachments[0].url
  const again = [await get(world, fresh), await get(world, listed)]
  await world.clock.advance(6 * day)
  const late = await get(world, event)

  assert.deepEqual([old.status, JSON.parse(old.body.toString()).error.code], [404, 'resource_missing'])
  assert.match(JSON.parse(old.body.toString()).error.message, /expired/)
  assert.equal(week.status, 200)
  assert.deepEqual(
    again.map(({ status }) => status),
    [200, 200],
  )
  assert.equal(late.status, 404)
})

test('an address that was modified, guessed or copied from another account is refused', async (t) => {
  const provider = await fileServer(t, servePicture)
  const { world, one } = await mailbox(t, [provider.host])
  const { url } = (await one(provider.url)).content.attachments[0]
  await settled(world, url)
  const [path, query] = url.split('?')
  const expires = /expires=(\d+)/.exec(query)![1]!
  const signature = /signature=([\w-]+)/.exec(query)![1]!
  const other = `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`

  const answers = await Promise.all(
    [
      path,
      `${path}?expires=${expires}`,
      `${path}?expires=${Number(expires) + 1}&signature=${signature}`,
      `${path}?expires=${expires}&signature=${signature.slice(0, 22)}`,
      `${path}?expires=${expires}&signature=${'A'.repeat(44)}`,
      `${path}?expires=${expires}&expires=9&signature=${signature}`,
      `${other}?${query}`,
      `${path}/../../etc/passwd?${query}`,
      `${world.platform.settings.base_url}/media/..%2f..%2fsecret.key?${query}`,
    ].map((address) => get(world, address)),
  )
  // a thief writes the address into a message and reads it to renew the address
  const thief = await world.account()
  const { body: forged } = await thief.api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_whatsapp',
    from: '+4915112345678',
    type: 'attachments',
    attachments: [{ type: 'image', url }],
  })
  const read = await thief.api.get(`/v1/messages/${forged.id}`)

  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 404),
  )
  assert.equal(read.body.content.attachments[0].url, url)
})

test('a file that a browser could run is downloaded under its own name', async (t) => {
  const types = ['image/svg+xml', 'text/html; charset=utf-8', 'no type at all\u00e9', 'application/pdf']
  const provider = await fileServer(
    t,
    (asked, response) =>
      void response.writeHead(200, { 'content-type': types[Number(asked.url!.slice(1))]! }).end('<svg/>'),
  )
  const { world, callBack } = await mailbox(t, [provider.host])

  const message = await callBack(
    types.map(() => ({ type: 'document', filename: 'Rechnung "ä"\n.html' })),
    types.map((_, index) => ({ index, reference: { url: `${provider.url}/${index}` } })),
  )
  const files = []
  for (const { url } of message.content.attachments) files.push(await settled(world, url))

  assert.deepEqual(
    files.map(({ headers }) => headers['content-type']),
    ['image/svg+xml', 'text/html', 'application/octet-stream', 'application/pdf'],
  )
  for (const { headers } of files)
    assert.equal(headers['content-disposition'], "attachment; filename*=UTF-8''Rechnung%20%22%C3%A4%22%0A.html")
})

test('the download from an unavailable provider is retried for ten minutes and then abandoned', async (t) => {
  let asked = 0
  const provider = await fileServer(
    t,
    (_request, response) => void (++asked < 3 ? response.writeHead(500).end() : servePicture(_request, response)),
  )
  const down = await fileServer(t, (_request, response) => void response.writeHead(500).end())
  const { world, one } = await mailbox(t, [provider.host, down.host])

  const recovered = await settled(world, (await one(provider.url)).content.attachments[0].url)
  const before = world.clock.now()
  const failed = await settled(world, (await one(down.url)).content.attachments[0].url)
  const minutes = (world.clock.now() - before) / 60_000

  assert.deepEqual([recovered.status, asked], [200, 3])
  assert.deepEqual([failed.status, JSON.parse(failed.body.toString()).error.code], [404, 'resource_missing'])
  assert.ok(minutes > 5 && minutes < 20, `${minutes} minutes`)
  await world.invariants()
})

test('the download of a missing file is abandoned at once, and its address explains why', async (t) => {
  let asked = 0
  const statuses = [404, 410]
  const gone = await fileServer(t, (_request, response) => void response.writeHead(statuses[asked++]!).end())
  const endless = await hostileServer(t, hostileAnswers['an endless body']!)
  const { world, callBack } = await mailbox(t, [gone.host, new URL(endless.url).host])
  const urls = [
    `${gone.url}/1`,
    `${gone.url}/2`,
    endless.url,
    'http://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/',
    'nonsense',
  ]
  const message = await callBack(
    urls.map(() => ({ type: 'sticker' })),
    urls.map((url, index) => ({ index, reference: { url } })),
  )
  const before = world.clock.now()

  const answers = []
  for (const { url } of message.content.attachments) answers.push(await settled(world, url, 0))

  assert.equal(world.clock.now(), before)
  assert.deepEqual(
    answers.map(({ status, body }) => [status, JSON.parse(body.toString()).error.code]),
    urls.map(() => [404, 'resource_missing']),
  )
  assert.deepEqual(
    answers.map(({ body }) => /provider\. (.*?) Ask/.exec(JSON.parse(body.toString()).error.message)?.[1]),
    [
      'The answer was 404 where a file was asked for.',
      'The answer was 410 where a file was asked for.',
      'The file is longer than 5242880 bytes.',
      '169.254.169.254:80 is not called without https.',
      'The host leads to 10.0.0.1, which is not a public address; nothing was sent.',
      'The address is no URL.',
    ],
  )
  assert.equal(asked, 2)
  await world.invariants()
})

test('a file whose copy kills its process is abandoned after as many attempts as any other', async (t) => {
  let asked = 0
  const provider = await fileServer(t, (_request, response) => {
    asked++
    servePicture(_request, response)
  })
  const { world, one } = await mailbox(t, [provider.host])
  const { url } = (await one(provider.url)).content.attachments[0]
  const now = world.clock.iso()
  for (let process = 1; process <= 7; process++) {
    const claim = {
      now,
      until: world.clock.iso(240_000),
      silent_since: now,
      rows_max: 1,
      channel_rows_max: 1,
      account_rows_max: 1,
      busy: [],
    }
    assert.equal((await claimMedia(world.platform.pool, { ...claim, process_id: `prc_killed_${process}` })).length, 1)
  }

  const { status } = await settled(world, url)

  assert.deepEqual([status, asked], [404, 0])
  await world.invariants()
})

test('no broken answer of a provider is stored as a file, and no other file waits', async (t) => {
  const good = await fileServer(t, servePicture)
  const inner = await fileServer(t, servePicture)
  const redirect = await fileServer(
    t,
    (_request, response) => void response.writeHead(302, { location: inner.url }).end(),
  )
  const bad = await Promise.all(
    ['no HTTP at all', 'half an answer', 'half a head', 'an endless body', 'an endless head', 'a cut connection'].map(
      (name) => hostileServer(t, hostileAnswers[name]!),
    ),
  )
  const silent = await hostileServer(t, () => undefined)
  const hosts = [good.host, redirect.host, ...[...bad, silent].map(({ url }) => new URL(url).host)]
  const { world, callBack, one } = await mailbox(t, hosts)
  const urls = [
    ...bad.map(({ url }) => url),
    silent.url,
    redirect.url,
    inner.url,
    'file:///etc/passwd',
    'nonsense',
    'http://169.254.169.254/latest/meta-data',
  ]

  const message = await callBack(
    urls.map(() => ({ type: 'sticker' })),
    urls.map((url, index) => ({ index, reference: { url } })),
  )
  const fine = await one(good.url)
  // advancing the clock for the hanging ones could end this copy too
  const file = await settled(world, fine.content.attachments[0].url)
  const answers = []
  for (const { url } of message.content.attachments) answers.push(await settled(world, url, 30_000, true))

  assert.deepEqual(
    answers.map(({ status }) => status),
    urls.map(() => 404),
  )
  assert.equal(file.status, 200)
  assert.equal((await mediaFiles(world)).length, 1)
  await world.invariants()
})

test('an account with hanging providers does not delay others', async (t) => {
  const silent = await hostileServer(t, () => undefined)
  const good = await fileServer(t, servePicture)
  const hosts = [new URL(silent.url).host, good.host]
  const { world, one } = await mailbox(t, hosts)
  const slow = await world.account({ mode: 'live' })
  for (let n = 1; n <= 8; n++) {
    const creation = {
      type: 'whatsapp',
      provider: 'simulator',
      name: 'Slow',
      identifier: `+491520000000${n}`,
      credentials: { callback_secret: 's3cret' },
    }
    const { body: channel } = await slow.api.post('/v1/channels', creation)
    const media = Array.from({ length: 5 }, (_, index) => ({ index, reference: { url: silent.url } }))
    const content = media.map(() => ({ type: 'image' }))
    const body = JSON.stringify({
      reports: [
        { kind: 'inbound', provider_id: `in-${n}`, from: '+4915112345678', type: 'attachments', content, media },
      ],
    })
    await world.api().post(`/hooks/channels/${channel.id}`, body, { 'x-simulator-signature': hmacHex('s3cret', body) })
  }
  await world.tick('callbacks')
  await world.tick('media', 'media', 'media')
  await silent.arrived(6)

  const file = await settled(world, (await one(good.url)).content.attachments[0].url, 0)

  assert.equal(file.status, 200)
  assert.equal(silent.requests.length, 6)
})

test('media without a reference is skipped, and an attachment that cannot be downloaded is left out', async (t) => {
  const { world, callBack } = await mailbox(t, [])

  const odd = await callBack(
    [{ type: 'image' }],
    [
      null,
      7,
      { index: 5, reference: {} },
      { index: 'a', reference: {} },
      { index: 0, reference: { url: 7 } },
      { index: 0, reference: { url: 'x'.repeat(5000) } },
    ],
  )
  const none = await callBack([{ type: 'image' }], 'nonsense')
  const one = await callBack(
    [{ type: 'image' }, { type: 'video', caption: 'Here' }],
    [
      { index: 0, reference: { url: 'x'.repeat(5000) } },
      { index: 1, reference: { url: 'https://example.com/gone' } },
    ],
  )

  for (const { status, type, content } of [odd, none])
    assert.deepEqual([status, type, content], ['received', 'unsupported', { unsupported: { provider_type: 'image' } }])
  assert.deepEqual(
    one.content.attachments.map(({ url, ...item }: { url: string }) => [
      item,
      url.startsWith(world.platform.settings.base_url),
    ]),
    [[{ type: 'video', caption: 'Here' }, true]],
  )
  await world.invariants()
})

test('files are deleted after their retention, including partial files of a killed process', async (t) => {
  const provider = await fileServer(t, servePicture)
  const { world, one } = await mailbox(t, [provider.host], { media_retention_days: 3 })
  const message = await one(provider.url)
  const { url } = message.content.attachments[0]
  await settled(world, url)

  await writeFile(join(world.platform.settings.data_dir, 'media/incoming/med_00000000000000000000000000.dead'), 'half')
  await world.clock.advance(2 * day)
  await world.periodicJobs()
  const kept = await mediaFiles(world)
  await world.clock.advance(day + 1)
  await world.periodicJobs()

  assert.deepEqual([kept.length, (await mediaFiles(world)).length], [1, 0])
  await world.invariants()
})

test('doctor reports a file without its message', async (t) => {
  const { world, one } = await mailbox(t, [])
  const message = await one('https://example.com/gone')

  await world.pool`delete from messages where id = ${message.id}`

  await assert.rejects(
    world.invariants(),
    /every file that came in belongs to its message: med_\w{26} came in with a message that does not exist/,
  )
})

test('with a bucket, files are stored, read and deleted there with signed requests', async (t) => {
  const provider = await fileServer(t, servePicture)
  const bucket = await s3Simulator(t)
  const { world, one } = await mailbox(t, [provider.host], {
    media_s3: { ...s3Keys, url: bucket.url },
    media_retention_days: 1,
  })
  bucket.failures.push(500)

  const { url } = (await one(provider.url)).content.attachments[0]
  const file = await settled(world, url)
  const part = await get(world, url, { range: 'bytes=5-9' })
  bucket.failures.push(500)
  const down = await get(world, url)
  const kept = [...bucket.objects].map(([key, { body, content_type }]) => [
    /^\w\w\/med_\w{26}$/.test(key),
    content_type,
    body.equals(picture),
  ])
  const left = await mediaFiles(world)
  await world.clock.advance(day + 1)
  await world.periodicJobs()

  assert.deepEqual([file.status, file.body.equals(picture)], [200, true])
  assert.deepEqual([part.status, part.body.equals(picture.subarray(5, 10))], [206, true])
  assert.deepEqual([down.status, JSON.parse(down.body.toString()).error.code], [503, 'upstream_unavailable'])
  assert.deepEqual(kept, [[true, 'image/png', true]])
  assert.deepEqual(left, [])
  assert.deepEqual([bucket.objects.size, bucket.refused], [0, []])
})

/** The media of a process that was started with another bucket or none; `pass` is its hourly run. */
function withBucket({ platform, services, pool }: World, url: string | undefined) {
  const changed = {
    ...platform,
    settings: { ...platform.settings, media_s3: url === undefined ? undefined : { ...s3Keys, url } },
  }
  const media = mediaService(changed, services.channels)
  return {
    pass: () => media.periodicJobs.find(({ name }) => name === 'delete-old-media')!.run(),
    breaches: async () => (await Promise.all(media.invariants.map(({ breaches }) => breaches(pool)))).flat(),
    overdue: async () => (await platform.metrics.media_overdue.get()).values[0]!.value,
    close: () => media.close(),
  }
}

test('files of a bucket that is no longer configured are reported, removed once it is configured again, and finally forgotten', async (t) => {
  const provider = await fileServer(t, servePicture)
  const [bucket, other] = [await s3Simulator(t), await s3Simulator(t)]
  const { world, one } = await mailbox(t, [provider.host], {
    media_s3: { ...s3Keys, url: bucket.url },
    media_retention_days: 1,
  })
  for (let n = 0; n < 3; n++) await settled(world, (await one(provider.url)).content.attachments[0].url)
  const [moved] = bucket.objects
  const [none, another, same] = [undefined, other.url, bucket.url].map((url) => withBucket(world, url))
  closing(t, async () => void (await Promise.all([none!, another!, same!].map((media) => media.close()))))

  await world.clock.advance(day + 1)
  await none!.pass()
  const early = [await none!.overdue(), bucket.objects.size, await none!.breaches()]
  await world.clock.advance(2 * day)
  const late = await none!.breaches()
  // the operator has begun to move files
  other.objects.set(...moved!)
  await another!.pass()
  const partly = [
    await none!.overdue(),
    other.objects.size,
    /^2 inbound files .* from the bucket http.* no longer configured/.test((await another!.breaches())[0]!),
  ]
  await world.clock.advance(day)
  await same!.pass()
  const back = [await none!.overdue(), bucket.objects.size, await same!.breaches()]

  assert.deepEqual(early, [3, 3, []])
  assert.match(
    late.join(),
    /^3 inbound files should have been removed from the bucket http.* by now\. It is no longer configured: set POSTHORN_MEDIA_S3_URL/,
  )
  assert.deepEqual(partly, [2, 0, true])
  assert.deepEqual(back, [0, 1, []])

  await settled(world, (await one(provider.url)).content.attachments[0].url)
  await world.clock.advance(80 * day)
  await none!.pass()
  const kept = await none!.overdue()
  await world.clock.advance(12 * day)
  await none!.pass()
  assert.deepEqual([kept, await none!.overdue(), bucket.objects.size], [1, 0, 2])
  await world.invariants()
})

test('files that cannot be removed delay no others, and are tried again the next day', async (t) => {
  const provider = await fileServer(t, servePicture)
  const bucket = await s3Simulator(t)
  const { world, one } = await mailbox(t, [provider.host], {
    media_s3: { ...s3Keys, url: bucket.url },
    media_retention_days: 1,
  })
  for (let n = 0; n < 3; n++) await settled(world, (await one(provider.url)).content.attachments[0].url)
  const media = withBucket(world, bucket.url)
  closing(t, () => media.close())
  await world.clock.advance(day + 1)
  bucket.failures.push(403)

  await assert.rejects(media.pass(), /1 inbound files could not be removed/)
  const left = bucket.objects.size
  await media.pass()
  const [unchanged, overdue] = [bucket.objects.size, await media.overdue()]
  await world.clock.advance(day)
  await media.pass()

  assert.deepEqual([left, unchanged, overdue, bucket.objects.size, await media.overdue()], [1, 1, 1, 0, 0])
})
