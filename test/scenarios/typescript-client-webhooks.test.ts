/** `verifyWebhook` of the installed client accepts genuine deliveries only, and never throws. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { installClient } from '../support/client-package.ts'
import { start, subscribe } from '../support/subscribing.ts'

const { folder, client } = await installClient()
const { verifyWebhook } = client
after(() => rm(join(folder, '..'), { recursive: true, force: true }))

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const other = `whsec_${Buffer.alloc(24, 2).toString('base64')}`
const body = '{"id":"evt_1","object":"event","type":"message.sent","data":{"object":{"id":"msg_1","note":"Grüße"}}}'
const now = 1_770_000_000
/** Stops the clock at `now`. */
const standStill = (t: TestContext) => t.mock.timers.enable({ apis: ['Date'], now: now * 1000 })

function service(seconds: number | string, ...secrets: string[]): Record<string, string> {
  const signatures = secrets.map(
    (each) => `v1=${createHmac('sha256', each).update(`${seconds}.${body}`).digest('hex')}`,
  )
  return { 'service-signature': [`t=${seconds}`, ...signatures].join(',') }
}

function standard(seconds: number | string, ...secrets: string[]): Record<string, string> {
  const signatures = secrets.map((each) => {
    const key = Buffer.from(each.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`evt_1.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': `${seconds}`, 'webhook-signature': signatures.join(' ') }
}

const inCase = (headers: Record<string, string>, change: (name: string) => string) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [change(name), value]))

test('a delivery is genuine by either family of headers, and by both', async (t) => {
  const { account, receiver } = await start(t)
  const endpoint = await subscribe(account, receiver, { events: ['message.delivered'] })
  await account.api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
  const received = receiver.received[0]!
  t.mock.timers.enable({ apis: ['Date'], now: Number(received.headers['webhook-timestamp']) * 1000 })
  const only = (pattern: RegExp) =>
    Object.fromEntries(Object.entries(received.headers).filter(([name]) => pattern.test(name)))

  for (const headers of [received.headers, only(/^service-/), only(/^webhook-/)]) {
    const event = await verifyWebhook(received.body, headers, endpoint.secret)
    assert.ok(event?.type === 'webhook.test')
    assert.equal(event.data.object.id, endpoint.id)
    assert.equal(await verifyWebhook(`${received.body} `, headers, endpoint.secret), null)
  }
})

for (const [family, headers] of Object.entries({ service, standard })) {
  test(`${family}: headers in any letter case, Headers, arrays and bytes are accepted`, async (t) => {
    standStill(t)
    const given = headers(now, secret)
    const asArrays = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value]]))

    for (const each of [
      given,
      inCase(given, (name) => name.toUpperCase()),
      inCase(given, (name) => name.replace(/^./, (first) => first.toUpperCase())),
      new Headers(given),
      asArrays,
    ])
      assert.equal((await verifyWebhook(body, each, secret))?.id, 'evt_1')
    for (const bytes of [
      Buffer.from(body),
      new Uint8Array(Buffer.from(body)),
      new Uint8Array(Buffer.from(body)).buffer,
    ])
      assert.equal((await verifyWebhook(bytes, given, secret))?.id, 'evt_1')
  })

  test(`${family}: during a rotation either secret verifies, on either side`, async (t) => {
    standStill(t)
    const both = headers(now, other, secret)

    assert.equal((await verifyWebhook(body, both, secret))?.id, 'evt_1')
    assert.equal((await verifyWebhook(body, both, other))?.id, 'evt_1')
    assert.equal((await verifyWebhook(body, headers(now, secret), [other, secret]))?.id, 'evt_1')
    assert.equal(await verifyWebhook(body, headers(now, other), secret), null)
  })

  test(`${family}: a signature more than five minutes off is refused, unless configured otherwise`, async (t) => {
    standStill(t)

    for (const away of [-300, 0, 300])
      assert.equal((await verifyWebhook(body, headers(now + away, secret), secret))?.id, 'evt_1')
    for (const away of [-301, 301]) assert.equal(await verifyWebhook(body, headers(now + away, secret), secret), null)
    assert.equal(await verifyWebhook(body, headers(now - 11, secret), secret, { toleranceSeconds: 10 }), null)
    assert.equal(await verifyWebhook(body, headers(now, secret), secret, { toleranceSeconds: Number.NaN }), null)
    for (const time of ['', 'NaN', '1e99', '-1'])
      assert.equal(await verifyWebhook(body, headers(time, secret), secret), null)
  })
}

test('invalid input returns null and never throws', async (t) => {
  standStill(t)
  const good = { ...service(now, secret), ...standard(now, secret) }
  const junk = ['', ',', '=', 't=', `t=${now},v1=`, `t=${now},v1=zz`, 'v1,', 'v1,%%%', '\u0000', 'x'.repeat(100_000)]
  for (const each of junk)
    assert.equal(
      await verifyWebhook(
        body,
        { 'service-signature': each, 'webhook-id': each, 'webhook-timestamp': each, 'webhook-signature': each },
        secret,
      ),
      null,
    )
  for (const headers of [{}, new Headers(), null, undefined, 1] as never[])
    assert.equal(await verifyWebhook(body, headers, secret), null)
  for (const each of ['', '{', 'null', null, undefined, 5, {}] as never[])
    assert.equal(await verifyWebhook(each, good, secret), null)
  const signed = 'not json'
  const header = `t=${now},v1=${createHmac('sha256', secret).update(`${now}.${signed}`).digest('hex')}`
  assert.equal(await verifyWebhook(signed, { 'service-signature': header }, secret), null)
})

test('a missing secret and invalid options are programming errors and throw', async () => {
  for (const none of ['', [], [''], undefined, null] as never[])
    await assert.rejects(verifyWebhook(body, {}, none), { name: 'TypeError', message: /secret/ })
  for (const none of [` ${secret}`, `${secret}\n`])
    await assert.rejects(verifyWebhook(body, {}, none), { name: 'TypeError', message: /white space/ })
  for (const none of [null, 300] as never[])
    await assert.rejects(verifyWebhook(body, {}, secret, none), { name: 'TypeError', message: /options/ })
})

test('without WebCrypto verification throws instead of reporting a forgery', async (t) => {
  t.mock.getter(globalThis, 'crypto', () => undefined as never)

  await assert.rejects(verifyWebhook(body, service(now, secret), secret), { name: 'TypeError', message: /WebCrypto/ })
})

test('an event type newer than the client is accepted and marked as unknown', async (t) => {
  standStill(t)
  const later = body.replace('message.sent', 'message.archived')
  const signed = {
    'service-signature': `t=${now},v1=${createHmac('sha256', secret).update(`${now}.${later}`).digest('hex')}`,
  }

  const [known, unknown] = [
    await verifyWebhook(body, service(now, secret), secret),
    await verifyWebhook(later, signed, secret),
  ]

  assert.deepEqual(
    [known, unknown].map((event) => client.isUnknownEvent(event!)),
    [false, true],
  )
})
