/** Bad receivers: each leaves an exact delivery record, and none delays another. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { isoTime } from '../../src/lib/clock.ts'
import { recordEvents } from '../../src/platform/events/outbox.ts'
import { startProcess } from '../support/process.ts'
import { closedPort, rawReceiver, respond, type Answer } from '../support/raw-receiver.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

async function facing(
  t: TestContext,
  answer: Answer,
  more: { tls?: boolean; scheme?: string; settings?: object } = {},
) {
  const receiver = await rawReceiver(t, answer, more)
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [receiver.host], ...more.settings } })
  const account = await world.account()
  const endpoint = await account.api.post('/v1/webhook_endpoints', {
    url: `${more.scheme ?? 'http'}://${receiver.host}/hook`,
    events: ['message.sent'],
  })
  assert.equal(endpoint.status, 201, JSON.stringify(endpoint.body))
  return { receiver, world, account, endpoint_id: endpoint.body.id as string }
}

async function happen(world: World, account: TestAccount, count = 1) {
  const id = (prefix: 'evt' | 'msg') => world.platform.ids(prefix)
  await recordEvents(
    world.pool,
    Array.from({ length: count }, () => ({
      account_id: account.id as `acc_${string}`,
      mode: account.mode,
      id: id('evt') as `evt_${string}`,
      type: 'message.sent' as const,
      object_id: id('msg'),
      object: { object: 'message' },
      created_at: world.clock.iso(),
    })),
  )
  await world.settle('fan-out')
}

const newest = async (account: TestAccount, endpoint_id: string) =>
  (await account.api.get(`/v1/webhook_endpoints/${endpoint_id}/deliveries?limit=1`)).body.data[0]

const cases: [string, Answer, { tls?: boolean; scheme?: string }, { status: number | null; error: string | null }][] = [
  ['a redirect', respond(301, '', 'location: https://example.com/\r\n'), {}, { status: 301, error: 'redirect' }],
  ['204', respond(204), {}, { status: 204, error: null }],
  ['410', respond(410, 'gone'), {}, { status: 410, error: 'status_410' }],
  ['a reset', (socket) => void socket.resetAndDestroy(), {}, { status: null, error: 'connection_reset' }],
  [
    'an early end',
    (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab'),
    {},
    { status: 200, error: 'connection_reset' },
  ],
  [
    'nonsense',
    (socket) => void socket.end('220 smtp.example.com ESMTP\r\n'),
    {},
    { status: null, error: 'response_invalid' },
  ],
  ['an untrusted certificate', respond(200), { tls: true, scheme: 'https' }, { status: null, error: 'tls_failed' }],
  [
    'an endless body',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const more = () =>
        void (socket.writable && socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`, () => setImmediate(more)))
      more()
    },
    {},
    { status: 200, error: null },
  ],
]
for (const [name, answer, options, expected] of cases) {
  test(`${name} is recorded exactly`, async (t) => {
    const { world, account, endpoint_id } = await facing(t, answer, options)

    await happen(world, account)
    await world.tick('deliver')

    const delivery = await newest(account, endpoint_id)
    assert.deepEqual({ status: delivery.response_status, error: delivery.error }, expected)
    assert.equal(delivery.status, expected.error === null ? 'delivered' : 'pending')
    assert.equal(delivery.error_message === null, expected.error === null)
    await world.invariants()
  })
}

const hanging: [string, Answer, number | null][] = [
  ['before the answer', () => undefined, null],
  ['within its headers', (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-'), null],
  ['within its body', (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nab'), 200],
  [
    'byte by byte',
    (socket) => {
      const text = 'HTTP/1.1 200 OK\r\nx: '
      let at = 0
      const drip = setInterval(() => socket.writable && socket.write(text[at++] ?? 'y'), 5)
      socket.on('close', () => clearInterval(drip))
    },
    null,
  ],
]
for (const [name, answer, status] of hanging) {
  test(`a receiver that hangs ${name} times out after ten seconds`, async (t) => {
    const { world, account, endpoint_id, receiver } = await facing(t, answer)

    await happen(world, account)
    const began = world.clock.now()
    const ticking = world.tick('deliver')
    await receiver.arrived(1)
    await world.idleWatch.whileTimePasses(() => ticking)
    await world.clock.advance(began + 9_999 - world.clock.now())
    const during = await newest(account, endpoint_id)
    await world.clock.advance(1)
    await world.tick('deliver')

    const delivery = await newest(account, endpoint_id)
    assert.deepEqual([during.status, during.attempts], ['pending', 0])
    assert.deepEqual(
      [delivery.status, delivery.attempts, delivery.response_status, delivery.error, delivery.duration_ms],
      ['pending', 1, status, 'timeout', 10_000],
    )
    assert.match(delivery.error_message, /10000 ms/)
  })
}

test('a refused connection, an unknown name and a private address have different errors', async (t) => {
  const port = await closedPort()
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [`127.0.0.1:${port}`] } })
  const account = await world.account()
  const expected = {
    [`http://127.0.0.1:${port}/`]: 'connection_refused',
    'https://no-such-host.invalid/': 'dns_failed',
    'https://203.0.113.9/': 'address_not_public',
  }
  const ids: Record<string, string> = {}
  for (const url of Object.keys(expected)) {
    const made = await account.api.post('/v1/webhook_endpoints', { url, events: ['*'] })
    assert.equal(made.status, 201, `${url} ${JSON.stringify(made.body)}`)
    ids[url] = made.body.id
  }

  await happen(world, account)
  await world.tick('deliver')

  for (const [url, error] of Object.entries(expected))
    assert.equal((await newest(account, ids[url]!)).error, error, url)
})

test('receivers that hang do not delay others', async (t) => {
  let hang = true
  const hung = await rawReceiver(t, (socket, request, index) => void (hang || respond(200)(socket, request, index)))
  const quick = await rawReceiver(t, respond(200))
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [hung.host, quick.host] } })
  const account = await world.account()
  for (let i = 0; i < 20; i++) {
    for (const host of [hung.host, quick.host])
      assert.equal(
        (await account.api.post('/v1/webhook_endpoints', { url: `http://${host}/${i}`, events: ['*'] })).status,
        201,
      )
  }

  await happen(world, account, 30)
  const passing = world.tickWhileTimePasses('deliver')
  await quick.arrived(20 * 30)
  const hungThen = hung.requests.length

  assert.ok(hungThen <= 20 * 4, `few attempts are risked on who has not answered yet: ${hungThen}`)
  hang = false
  await passing
  await world.clock.advance(10_000)
  await world.tick('deliver')
  await world.invariants()
})

test('deliveries in progress of a dead process are made by another within ten seconds', async (t) => {
  let hang = true
  const { world, account, receiver, endpoint_id } = await facing(
    t,
    (socket, request, index) => void (hang || respond(200)(socket, request, index)),
  )
  const { platform } = world
  await platform.pool`insert into processes (id, roles, started_at, heartbeat_at) values (${platform.process_id}, '{worker}', ${world.clock.iso()}, ${world.clock.iso()})`
  const other = (await startProcess(t, world, 'other')).app
  await happen(world, account)
  const began = world.clock.now()
  const passing = world.tickWhileTimePasses('deliver')
  await receiver.arrived(1)
  hang = false

  await passing
  await world.clock.advance(began + 9_000 - world.clock.now())
  const early = await other.worker('deliver').tick()
  await world.pool`update processes set heartbeat_at = ${isoTime(world.clock.now() - 11_000)} where id = ${platform.process_id}`
  const late = await other.worker('deliver').tick()

  assert.deepEqual([early, late], [0, 1])
  assert.equal(receiver.requests.length, 2)
  assert.equal((await newest(account, endpoint_id)).status, 'delivered')
  await world.clock.advance(60_000)
  await world.tick('deliver')
  assert.deepEqual(
    [(await newest(account, endpoint_id)).status, (await newest(account, endpoint_id)).attempts],
    ['delivered', 1],
  )
  await world.invariants()
})

test('a shutdown releases hanging attempts without counting them and finishes the others', async (t) => {
  const { world, account, receiver, endpoint_id } = await facing(t, () => undefined)
  await happen(world, account)
  const passing = world.tickWhileTimePasses('deliver')
  await receiver.arrived(1)

  await Promise.all([world.stop(), passing])

  const [row] = await world.pool`select attempts, error from webhook_queue where endpoint_id = ${endpoint_id}`
  assert.deepEqual({ ...row }, { attempts: 0, error: null })
  const [turn] = await world.pool`select process_id, failures from webhook_leases where endpoint_id = ${endpoint_id}`
  assert.deepEqual({ ...turn }, { process_id: null, failures: 0 })
})

test('a shutdown records finished attempts without waiting for hanging ones', async (t) => {
  const { world, account, receiver, endpoint_id } = await facing(
    t,
    (socket, request, index) => void (index === 0 || respond(200)(socket, request, index)),
  )
  await happen(world, account, 2)
  const passing = world.tickWhileTimePasses('deliver')
  await receiver.arrived(2)
  await passing

  const before = world.clock.now()
  await world.stop()
  const passed = world.clock.now() - before

  assert.ok(passed < 5_000, `${passed} ms`)
  const rows = await world.pool`select status, attempts from webhook_deliveries where endpoint_id = ${endpoint_id}`
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ status: 'delivered', attempts: 1 }],
  )
  assert.equal((await world.pool`select 1 from webhook_queue where endpoint_id = ${endpoint_id}`).length, 1)
})

test('a shutdown during an attempt on request counts no failure and leaves the attempt to the worker', async (t) => {
  const { world, account, receiver, endpoint_id } = await facing(t, () => undefined)
  const asking = account.api.post(`/v1/webhook_endpoints/${endpoint_id}/test`)
  await receiver.arrived(1)
  await world.clock.advance(1_000)

  await Promise.all([world.stop(), asking])

  const [row] =
    await world.pool`select attempts, error, scheduled from webhook_retries where endpoint_id = ${endpoint_id}`
  assert.deepEqual({ ...row }, { attempts: 0, error: null, scheduled: true })
})
