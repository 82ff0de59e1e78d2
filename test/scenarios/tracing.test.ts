/** Traces reach providers, webhook endpoints and the collector (behaviour: operating 9). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import Stripe from 'stripe'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { makeKey } from '../support/load.ts'
import { receiverHost, type Received } from '../support/receiver.ts'
import { serviceProcess } from '../support/service.ts'
import { simulatedHttp, type Odd } from '../support/simulators/http.ts'
import { simulateTwilio } from '../support/simulators/twilio.ts'
import { until } from '../support/waiting.ts'
import { startWorld, testSecretKeys } from '../support/world.ts'
import { sources, withoutComments } from '../architecture/sources.ts'

const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const traceparent = `00-${trace_id}-${parent}-01`
const text = { type: 'text', text: { body: 'Hello' } }

/** The event id of a delivery; throws if its signature is invalid. */
function verifiedId({ body, headers }: Received, secret: string): string {
  const at = Number(headers['webhook-timestamp']) * 1000
  return Stripe.webhooks.constructEvent(body, String(headers['service-signature']), secret, 300, undefined, at).id
}

test('the trace of a request is propagated to providers and webhook endpoints, and invalid ones are ignored', async (t) => {
  const credentials = {
    account_sid: 'AC0123456789abcdef0123456789abcdef',
    auth_token: 'f00dfeedf00dfeedf00dfeedf00dfeed',
  }
  const identifier = '+14155550100'
  const twilio = await simulateTwilio(t, {
    ...credentials,
    numbers: [identifier],
    now: () => Date.parse('2026-01-31T09:30:00.000Z'),
  })
  const world = await startWorld(t, { settings: { provider_urls: { POSTHORN_TWILIO_URL: twilio.url } } })
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const { body: channel } = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'twilio',
    name: 'Orders',
    identifier,
    credentials,
    settings: { max_messages_per_second: 100 },
  })
  const receiver = world.receiver()
  const { body: endpoint } = await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['message.sent'] })
  const headers = [
    traceparent,
    `01-${trace_id}-${parent}-01-and-more`,
    `00-${trace_id}-${parent}-00`,
    `00-${trace_id}-${parent}-01-and-more`,
    `ff-${trace_id}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace_id}-${'0'.repeat(16)}-01`,
    traceparent.toUpperCase(),
    `${traceparent}, ${traceparent}`,
    'x'.repeat(2000),
    '',
  ]
  for (const [n, header] of headers.entries()) {
    const { status } = await api.post(
      '/v1/messages',
      { channel: channel.id, to: `+1415555020${n % 10}`, ...text },
      { traceparent: header },
    )
    assert.equal(status, 202)
    await world.settle()
  }

  const passed = [traceparent, traceparent, `00-${trace_id}-${parent}-00`, ...headers.slice(3).map(() => undefined)]
  assert.deepEqual(
    twilio.messages.map((message) => message.headers['traceparent']),
    passed,
  )
  assert.deepEqual(
    receiver.received.map((delivery) => delivery.headers['traceparent']),
    passed,
  )
  for (const delivery of receiver.received)
    assert.equal(verifiedId(delivery, endpoint.secret), delivery.headers['service-event-id'])
})

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: readonly Attribute[]
}

async function collector(t: TestContext) {
  const spans: CollectedSpan[] = []
  const http = await simulatedHttp(t, ({ path, body }) => {
    const reported = JSON.parse(body.toString('utf8')) as {
      resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[]
    }
    if (path === '/v1/traces')
      spans.push(...reported.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    return { body: {} }
  })
  return { spans, url: http.url, answerNext: (...answers: Odd[]) => http.answerNext(...answers) }
}

async function tracedService(t: TestContext, endpoint: string) {
  const database = await testDatabase()
  closing(t, () => database.drop())
  const host = await receiverHost()
  closing(t, () => host.close())
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-tracing-'))
  closing(t, () => rmSync(folder, { recursive: true, force: true }))
  const service = await serviceProcess(join(folder, 'data'), {
    DATABASE_URL: database.url,
    POSTHORN_SECRET_KEY: testSecretKeys.current,
    POSTHORN_WEBHOOK_ALLOWED_HOSTS: host.host,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  })
  closing(t, () => service.kill('service'))
  await service.start()
  return { service, receiver: host.receiver() }
}

test('a collector receives request, send attempt and delivery as one trace, without data of tenants', async (t) => {
  const { spans, url } = await collector(t)
  const { service, receiver } = await tracedService(t, url)
  const api = service.api(await makeKey(service))
  const { body: endpoint } = await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['message.sent'] })
  const message = { channel: 'ch_test_sms', to: '+15005550006', ...text, reference: 'order-1042' }
  const sent = await api.post('/v1/messages', message, { traceparent })
  const refused = await api.post('/v1/messages', { channel: 'ch_test_sms' }, { traceparent })
  // a stopping service waits for its collector only briefly
  const ours = await until(
    'the spans of two requests, the send attempt and the delivery',
    () => spans.filter(({ traceId }) => traceId === trace_id),
    ({ length }) => length >= 4,
  )
  const code = await service.stop()

  const [accepted, refusal] = ours.filter(({ name }) => name === 'POST /v1/messages')
  const attempt = ours.find(({ name }) => name === 'send sms')
  const delivery = ours.find(({ name }) => name === 'deliver message.sent')
  const line = service
    .errors()
    .split('\n')
    .find((each) => each.includes(refused.body.error.request_id))
  assert.deepEqual([sent.status, refused.status, code], [202, 400, 0])
  assert.deepEqual([accepted?.parentSpanId, refusal?.parentSpanId], [parent, parent])
  assert.deepEqual([attempt?.parentSpanId, delivery?.parentSpanId], [accepted?.spanId, accepted?.spanId])
  assert.equal(verifiedId(receiver.received[0]!, endpoint.secret), receiver.received[0]!.json.id)
  assert.equal(receiver.received[0]!.headers['traceparent'], `00-${trace_id}-${delivery!.spanId}-01`)
  assert.equal((JSON.parse(line!) as { trace_id: string }).trace_id, trace_id)
  assert.ok(spans.every(({ name }) => !name.includes('readyz')))
  assert.doesNotMatch(JSON.stringify(spans), /15005550006|order-1042|Hello|svc_test_/)
})

test('a hanging or missing collector delays neither requests nor the shutdown', async (t) => {
  const { url, answerNext } = await collector(t)
  const { service } = await tracedService(t, url)
  const api = service.api(await makeKey(service))
  answerNext(...Array.from({ length: 50 }, () => 'hang' as const))
  for (let n = 0; n < 20; n++)
    assert.equal((await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', ...text })).status, 202)

  assert.equal(await service.stop(), 0)
})

test('the tracing library is not loaded without an endpoint', () => {
  const code = sources('src/**/*.ts').map(({ path, text: written }) => ({ path, code: withoutComments(written) }))
  const naming = code.filter((file) => file.code.includes('@opentelemetry/')).map(({ path }) => path)
  const loading = code.filter((file) => /from '[./]*\/opentelemetry\.ts'/.test(file.code)).map(({ path }) => path)

  assert.deepEqual([naming, loading], [['src/platform/observability/opentelemetry.ts'], []])
})
