/** The console's event stream (behaviour: console 8). */
import assert from 'node:assert/strict'
import { request } from 'undici'
import test, { type TestContext } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { withoutChromium } from '../support/chromium.ts'
import { button, openOwnersConsole } from '../support/console.ts'
import { startProcess } from '../support/process.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

interface Heard {
  readonly status: number
  readonly lines: { id?: string; data?: { type: string; id?: string } }[]
  text(): string
  readonly ended: () => boolean
}

async function listen(
  t: TestContext,
  world: World,
  client: ConsoleClient,
  last_id?: string,
  mode = 'test',
): Promise<Heard> {
  const left = new AbortController()
  t.after(() => left.abort())
  const answer = await request(`${world.base_url}/console/api/stream?account=${client.account!}&mode=${mode}`, {
    headers: { cookie: client.cookie!, ...(last_id === undefined ? {} : { 'last-event-id': last_id }) },
    signal: left.signal,
  })
  let text = ''
  let ended = false
  const reading = async () => {
    for await (const chunk of answer.body) text += String(chunk)
  }
  void reading()
    .catch(() => undefined)
    .finally(() => (ended = true))
  const lineOf = (block: string) => {
    const fields = Object.fromEntries(
      block.split('\n').map((line) => [line.split(': ', 1)[0]!, line.slice(line.indexOf(': ') + 2)]),
    )
    return {
      ...(fields['id'] === undefined ? {} : { id: fields['id'] }),
      ...(fields['data'] === undefined ? {} : { data: JSON.parse(fields['data']) }),
    }
  }
  return {
    status: answer.statusCode,
    get lines() {
      const blocks = text.split('\n\n').slice(0, -1)
      return blocks.map(lineOf).filter(({ id, data }) => id !== undefined || data !== undefined)
    },
    text: () => text,
    ended: () => ended,
  }
}

const reported = ({ lines }: Heard) =>
  lines.flatMap(({ data }) => (data === undefined ? [] : [`${data.type} ${data.id ?? ''}`.trim()]))

async function signedIn(t: TestContext) {
  const world = await startWorld(t)
  const { api } = await world.account()
  const client = await signedInOwner(world)
  const send = async () =>
    (await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hi' } }))
      .body.id as string
  const pass = () => world.tick('console-streams')
  return { world, api, client, send, pass }
}

async function memberWith(world: World, owner: ConsoleClient, role: string): Promise<ConsoleClient> {
  const invited = await owner.send('POST', '/invitations', { email: `${role}@example.com`, role })
  const token = invited.body.url.slice(invited.body.url.indexOf('#') + 1)
  const member = consoleClient(world)
  const joined = await member.send('POST', '/invitations/accept', { token, name: role, password: ownerPassword })
  assert.equal(joined.status, 201, JSON.stringify(joined.body))
  member.account = owner.account
  member.mode = 'test'
  return member
}

test('events arrive in order, and a reconnect gets the events missed meanwhile', async (t) => {
  const { world, client, send, pass } = await signedIn(t)
  const earlier = await send()
  await world.settle()

  const first = await listen(t, world, client)
  await pass()
  const id = await send()
  await world.settle()
  await pass()
  await until('the events', () => reported(first).length === 2)
  const seen = first.lines.at(-1)?.id
  const other = await send()
  await world.settle()
  await pass()
  const back = await listen(t, world, client, seen)
  await pass()
  await until('what came meanwhile', () => reported(back).length > 0)

  assert.equal(first.status, 200)
  await until('the others', () => reported(first).length === 4)
  assert.deepEqual(reported(first), [
    `message.sent ${id}`,
    `message.delivered ${id}`,
    `message.sent ${other}`,
    `message.delivered ${other}`,
  ])
  assert.deepEqual(reported(back), reported(first).slice(2))
  assert.ok(!first.text().includes(earlier))
  assert.match(first.lines[0]!.id!, /^evt_/)
})

test('an unknown event id, or too many missed events, cause a reset', async (t) => {
  const { world, client, send, pass } = await signedIn(t)
  await send()
  await world.settle()
  const lost = await listen(t, world, client, 'evt_01jjjjjjjjjjjjjjjjjjjjjjjj')
  await pass()
  await until('the reset', () => reported(lost).length === 1)

  const messages = Array.from({ length: 100 }, () => ({
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hi' },
  }))
  for (let round = 0; round < 6; round++)
    assert.equal((await client.send('POST', '/v1/messages/batch', { messages })).status, 207)
  // all events become final between two polls
  await world.settle('dispatch', 'fan-out')
  await pass()
  await until('the reset', () => reported(lost).length === 2)
  const id = await send()
  await world.settle()
  await pass()
  await until('the later events', () => reported(lost).length === 4)

  assert.deepEqual(reported(lost), ['reset', 'reset', `message.sent ${id}`, `message.delivered ${id}`])
})

test('a change without an event causes a reset in its account, whichever process made it', async (t) => {
  const { world, api, client, pass } = await signedIn(t)
  const other = await startProcess(t, world, 'other')
  const elsewhere = await world.account({ name: 'Elsewhere' })
  const heard = await listen(t, world, client)
  const live = await listen(t, world, client, undefined, 'live')
  const look = async () => {
    await world.clock.advance(1000)
    await pass()
  }
  await look()
  assert.equal((await api.post('/v1/contact_lists', { name: 'Regulars' })).status, 201)
  await pass()
  await until('the change here', () => reported(heard).length === 1)
  await world.tick('request-log')
  await look()
  const { key } = await world.services.accounts.createKey({ account_id: client.account!, mode: 'test' })
  assert.equal((await other.api(key).post('/v1/contact_lists', { name: 'Others' })).status, 201)
  await other.tickWhileTimePasses('request-log')
  await look()
  await until('the change there', () => reported(heard).length === 2)
  assert.equal((await elsewhere.api.post('/v1/contact_lists', { name: 'Elsewhere' })).status, 201)
  assert.equal((await api.get('/v1/contact_lists')).status, 200)
  assert.equal((await api.post('/v1/contact_lists', {})).status, 400)
  await world.tick('request-log')
  await look()
  await look()

  assert.deepEqual(reported(heard), ['reset', 'reset'])
  assert.deepEqual(reported(live), [])
})

test('a stream contains only events of its account and mode that the role may read', async (t) => {
  const { world, client, send, pass } = await signedIn(t)
  const finance = await memberWith(world, client, 'finance')
  const stranger = await world.account({ name: 'Elsewhere' })
  const live = await listen(t, world, client, undefined, 'live')
  const heard = [await listen(t, world, client), await listen(t, world, finance)] as const
  await pass()
  const id = await send()
  await stranger.api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hi' },
  })
  await world.settle()
  await pass()
  await until('the owner to hear', () => reported(heard[0]).length === 2)

  assert.deepEqual(reported(heard[0]), [`message.sent ${id}`, `message.delivered ${id}`])
  assert.deepEqual([reported(heard[1]), reported(live)], [[], []])
  const path = (query: string) => client.send('GET', `/stream?${query}`)
  const refused = [
    await path(`account=${stranger.id}&mode=test`),
    await path(`account=${client.account!}`),
    await path(`account=${client.account!}&mode=both`),
    await consoleClient(world).send('GET', `/stream?account=${client.account!}&mode=test`),
  ]
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.error.code]),
    [
      [403, 'account_required'],
      [400, 'parameter_missing'],
      [400, 'parameter_invalid'],
      [401, 'session_required'],
    ],
  )
})

test('a stream ends within five seconds of its session, membership or role, and with the service', async (t) => {
  const { world, client, pass } = await signedIn(t)
  const [gone, other, out] = [
    await memberWith(world, client, 'viewer'),
    await memberWith(world, client, 'marketer'),
    await memberWith(world, client, 'agent'),
  ]
  const [stays, removed, changed, signedOut] = [
    await listen(t, world, client),
    await listen(t, world, gone),
    await listen(t, world, other),
    await listen(t, world, out),
  ] as const
  await pass()
  const idOf = async (member: ConsoleClient) => (await member.send('GET', '/session')).body.user.id as string
  const ids = [await idOf(gone), await idOf(other)] as const
  assert.equal((await client.send('DELETE', `/members/${ids[0]}`)).status, 200)
  assert.equal((await client.send('PATCH', `/members/${ids[1]}`, { role: 'viewer' })).status, 200)
  await out.send('DELETE', '/session')

  await world.clock.advance(4_500)
  await pass()
  await until('their ends', () => removed.ended() && changed.ended() && signedOut.ended())

  assert.equal(stays.ended(), false)
  world.services.operators.streams.close()
  await until('the end of the service', () => stays.ended())
  assert.equal((await listen(t, world, client)).status, 200)
})

test('the stream of a removed member ends also after the clock was set back', async (t) => {
  const { world, client, pass } = await signedIn(t)
  const gone = await memberWith(world, client, 'viewer')
  const [stays, removed] = [await listen(t, world, client), await listen(t, world, gone)]
  await pass()
  const { id } = (await gone.send('GET', '/session')).body.user
  assert.equal((await client.send('DELETE', `/members/${id}`)).status, 200)

  world.clock.jump(-3600_000)
  await world.clock.advance(4_500)
  await pass()
  await until('its end', () => removed.ended())

  assert.equal(stays.ended(), false)
})

test('a change is streamed once also after the clock was set back', async (t) => {
  const { world, api, client, pass } = await signedIn(t)
  const heard = await listen(t, world, client)
  const look = async () => {
    await world.clock.advance(1000)
    await pass()
  }
  await look()
  assert.equal((await api.post('/v1/contact_lists', { name: 'Regulars' })).status, 201)
  await world.tick('request-log')
  await look()
  await until('the change', () => reported(heard).length === 1)

  world.clock.jump(-3600_000)
  for (let looks = 0; looks < 25; looks++) await look()
  const { id } = (
    await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hi' } })
  ).body
  await world.settle()
  await look()
  await until('the later events', () => reported(heard).includes(`message.delivered ${id}`))

  assert.deepEqual(reported(heard), ['reset', `message.sent ${id}`, `message.delivered ${id}`])
})

test('a session has at most ten streams, and an account a hundred', async (t) => {
  const { world, client } = await signedIn(t)
  const { streams } = world.services.operators
  const path = `/stream?account=${client.account!}&mode=test`
  for (let open = 0; open < 10; open++) await listen(t, world, client)
  const ofSession = await client.send('GET', path)

  for (let open = 10; open < 100; open++)
    streams.open({
      account_id: client.account! as 'acc_1',
      mode: 'test',
      cookie_hash: `session ${Math.floor(open / 10)}`,
      role: 'viewer',
      last_id: undefined,
    })
  const member = await memberWith(world, client, 'developer')
  const ofAccount = await member.send('GET', path)
  streams.open({ account_id: 'acc_other', mode: 'test', cookie_hash: 'other', role: 'viewer', last_id: undefined })

  for (const { status, body, headers } of [ofSession, ofAccount])
    assert.deepEqual([status, body.error.code, headers['retry-after']], [429, 'rate_limit_exceeded', '15'])
  assert.match(ofSession.body.error.message, /session has 10/)
  assert.match(ofAccount.body.error.message, /account has 100/)
  assert.equal(streams.count, 101)
})

test('screens update by themselves', { skip: withoutChromium }, async (t) => {
  const { world, account, page, show, assertQuiet } = await openOwnersConsole(t)
  // without polling, only the stream changes the screen
  await page.addInitScript((pollMs) => {
    globalThis.setInterval = new Proxy(globalThis.setInterval, {
      apply: (start, self, args) => (args[1] >= pollMs ? 0 : Reflect.apply(start, self, args)),
    })
  }, 15_000)
  const { body } = await account.api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hi' },
  })
  await show(`messages/${body.id}`)
  await button(page, 'Cancel message').waitFor()
  const status = page.getByRole('region', { name: 'Status' })
  await status.getByText('Queued', { exact: true }).waitFor()
  await until('the console to listen', () =>
    world.tick('console-streams').then(() => world.services.operators.streams.count === 1),
  )
  await world.tick('console-streams')

  await world.settle()
  await world.tick('console-streams')
  await status.getByText('Delivered', { exact: true }).waitFor()
  assertQuiet()
})
