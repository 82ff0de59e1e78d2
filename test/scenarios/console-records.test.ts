/** The audit log, with account settings and API keys. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleClient, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { startWorld, type World } from '../support/world.ts'

const code = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const asRole = async ({ pool }: World, role: string) => void (await pool`update memberships set role = ${role}`)

interface Entry {
  readonly actor: { readonly type: string; readonly id: string }
  readonly action: string
  readonly object_id: string | null
  readonly changes: Record<string, unknown>
  readonly request_id: string | null
  readonly address: string | null
}

async function entries(client: ConsoleClient, query = ''): Promise<Entry[]> {
  const answer = await client.send('GET', `/audit_entries${query}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}

test('an owner changes name, time zone and threshold of the account, and the audit log records it', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  client.mode = undefined

  const before = await client.send('GET', '/account')
  assert.deepEqual([before.body.id, before.body.timezone], [account.id, 'UTC'])
  const wanted = { name: 'Example Ltd', timezone: 'Europe/Berlin', low_balance_micros: 5_000_000 }
  const changed = await client.send('PATCH', '/account', wanted)
  assert.deepEqual([changed.status, changed.body], [200, { ...before.body, ...wanted }])
  assert.deepEqual((await client.send('GET', '/account')).body, changed.body)
  assert.equal((await client.send('GET', '/session')).body.accounts[0].name, 'Example Ltd')
  assert.equal((await client.send('PATCH', '/account', { timezone: 'Mars/Olympus' })).body.error.param, 'timezone')
  assert.equal((await world.api(account).get('/v1/me')).body.name, 'Example Ltd')

  const [entry, setup] = await entries(client)
  assert.deepEqual([entry?.action, entry?.object_id, entry?.changes], ['account.update', account.id, wanted])
  assert.deepEqual(
    [entry?.request_id, entry?.address, entry?.actor.type],
    [changed.headers['x-request-id'], '127.0.0.1', 'user'],
  )
  assert.equal(setup?.action, 'setup')
})

test('a key is shown once, works in its mode, and is refused after revocation', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)

  const wanted = {
    name: 'Shop',
    mode: 'test',
    scopes: ['messages:read'],
    ip_allowlist: ['127.0.0.0/8'],
    expires_at: '2999-01-01T00:00:00Z',
  }
  const headers = { 'idempotency-key': 'one' }
  const made = await client.send('POST', '/api_keys', wanted, headers)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { key, ...shown } = made.body
  assert.deepEqual(shown, {
    ...shown,
    object: 'api_key',
    ...wanted,
    expires_at: '2999-01-01T00:00:00.000Z',
    revoked_at: null,
    last_four: key.slice(-4),
  })
  assert.deepEqual((await client.send('POST', '/api_keys', wanted, headers)).body, made.body)
  assert.deepEqual((await client.send('GET', '/api_keys?limit=1')).body.data, [shown])
  assert.equal((await world.api(key).get('/v1/messages')).status, 200)

  const revoked = await client.send('POST', `/api_keys/${shown.id}/revoke`)
  assert.deepEqual([revoked.status, typeof revoked.body.revoked_at], [200, 'string'])
  assert.equal(code(await world.api(key).get('/v1/messages')), 'api_key_revoked')
  assert.deepEqual(
    (await entries(client)).slice(0, 2).map(({ action, object_id }) => [action, object_id]),
    [
      ['api_keys.revoke', shown.id],
      ['api_keys.create', shown.id],
    ],
  )
  assert.ok(!JSON.stringify(await entries(client)).includes(key))
})

test('keys are listed by mode, in pages', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const make = async (name: string) =>
    (await client.send('POST', '/api_keys', { name, mode: 'test' }, { 'idempotency-key': name })).body.id
  const [one, two] = [await make('One'), await make('Two')]

  const first = (await client.send('GET', '/api_keys?mode=test&limit=1')).body
  const next = (await client.send('GET', `/api_keys?mode=test&limit=1&starting_after=${first.next_cursor}`)).body
  const live = (await client.send('GET', '/api_keys?mode=live')).body

  assert.deepEqual([first.data[0].id, first.has_more, next.data[0].id, live.data], [two, true, one, []])
})

test('the 51st key is refused, a live key needs a recent password, and a developer creates test keys and revokes live ones', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  const live = await client.send('POST', '/api_keys', { mode: 'live' })
  assert.equal(live.status, 201)

  await world.clock.advance(11 * 60_000)
  assert.equal(code(await client.send('POST', '/api_keys', { mode: 'live' })), 'reauthentication_required')
  await asRole(world, 'developer')
  assert.equal(code(await client.send('POST', '/api_keys', { mode: 'live' })), 'role_not_allowed')
  assert.equal((await client.send('POST', '/api_keys', { mode: 'test' })).status, 201)
  assert.equal((await client.send('POST', `/api_keys/${live.body.id}/revoke`)).status, 200)
  await asRole(world, 'marketer')
  assert.equal(code(await client.send('GET', '/api_keys')), 'role_not_allowed')
  assert.equal(code(await client.send('POST', `/api_keys/${live.body.id}/revoke`)), 'role_not_allowed')

  await asRole(world, 'owner')
  const held = (await world.services.accounts.listKeys(account.id)).filter(
    ({ revoked_at }) => revoked_at === null,
  ).length
  for (let n = held; n < 50; n++) await world.services.accounts.createKey({ account_id: account.id, mode: 'test' })
  const beyond = await client.send('POST', '/api_keys', { mode: 'test' })
  assert.deepEqual([beyond.status, code(beyond)], [400, 'api_key_limit'])
  const elsewhere = await world.account()
  assert.equal((await client.send('POST', `/api_keys/${elsewhere.key_id}/revoke`)).status, 404)
})

test('changes by people and keys are in the audit log with masked secrets; refusals and single messages are not', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const api = world.api(account)
  const client = await signedInOwner(world)
  const url = 'https://user:pass@example.com/hook?token=hidden'

  const list = await client.send('POST', '/v1/contact_lists', { name: 'Customers' }, { 'idempotency-key': 'list' })
  await client.send('POST', '/v1/contact_lists', { name: 'Customers' }, { 'idempotency-key': 'list' })
  const renamed = await api.patch(`/v1/contact_lists/${list.body.id}`, { name: 'Buyers' })
  const endpoint = await api.post('/v1/webhook_endpoints', {
    url: 'https://example.com/hook?token=hidden',
    events: ['*'],
    verification_token: 'hidden-token',
  })
  await client.send('DELETE', `/v1/contact_lists/${list.body.id}`)
  assert.equal((await client.send('POST', '/v1/webhook_endpoints', { url, events: ['nothing'] })).status, 400)
  await client.send('POST', '/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hello' },
  })
  await api.post('/v1/contacts', { phone: '+4915112345678' })
  await client.send('GET', '/v1/messages')

  const all = await entries(client)
  const key = { type: 'api_key', id: account.key_id }
  const user = { type: 'user', id: (await client.send('GET', '/me')).body.id }
  assert.deepEqual(
    all.map(({ action, object_id, actor }) => [action, object_id, actor]),
    [
      ['contact_lists.delete', list.body.id, user],
      ['webhook_endpoints.create', endpoint.body.id, key],
      ['contact_lists.update', list.body.id, key],
      ['contact_lists.create', list.body.id, user],
      ['setup', user.id, user],
    ],
  )
  assert.equal(all[2]!.request_id, renamed.headers['x-request-id'])
  assert.deepEqual(all[1]!.changes, {
    url: 'https://example.com/hook?[masked]',
    events: ['*'],
    verification_token: '[masked]',
  })

  assert.deepEqual((await entries(client, `?actor=${account.key_id}`)).length, 2)
  assert.deepEqual((await entries(client, `?object_id=${list.body.id}`)).length, 3)
  assert.deepEqual((await entries(client, '?created_before=2000-01-01')).length, 0)
  assert.deepEqual((await entries(client, '?limit=2')).length, 2)
  const foreign = await world.account()
  assert.equal(
    code(await client.send('GET', '/audit_entries', undefined, { 'service-account': foreign.id })),
    'account_required',
  )
  assert.equal(code(await consoleClient(world).send('GET', '/audit_entries')), 'session_required')

  await world.clock.advance(366 * 24 * 3600_000)
  await world.periodicJobs()
  const [left] = await world.pool<{ rows: number }[]>`select count(*)::int as rows from audit_entries`
  assert.equal(left!.rows, 0)
})

test('a change is rolled back if its audit log entry cannot be written', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  const list = await client.send('POST', '/v1/contact_lists', { name: 'Customers' })
  const endpoint = await world
    .api(account)
    .post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] })
  await world.pool`alter table audit_entries add constraint refused check (action = 'setup') not valid`

  for (const [method, path, body] of [
    ['POST', '/v1/contact_lists', { name: 'Others' }],
    ['DELETE', `/v1/contact_lists/${list.body.id}`, undefined],
    ['POST', '/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] }],
    ['PATCH', `/v1/webhook_endpoints/${endpoint.body.id}`, { description: 'Mine' }],
    ['POST', `/v1/webhook_endpoints/${endpoint.body.id}/roll_secret`, {}],
    ['PATCH', '/account', { name: 'Other' }],
    ['POST', '/api_keys', { mode: 'test' }],
  ] as const)
    assert.equal((await client.send(method, path, body)).status, 500, path)
  assert.equal((await client.send('GET', '/v1/contact_lists')).body.data.length, 1)
  assert.deepEqual(
    (await client.send('GET', '/v1/webhook_endpoints')).body.data.map(
      ({ description }: { description: string }) => description,
    ),
    [''],
  )
  assert.notEqual((await client.send('GET', '/account')).body.name, 'Other')
})

test('owners are mailed about a low balance at most once in 24 hours', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  await client.send('PATCH', '/account', { low_balance_micros: 1_000_000_000_000 })
  const { billing } = world.services
  await billing.creditWallet(world.pool, account.id, 5_000_000, 'To begin with')
  const low = async () => {
    await world.pool.begin(async (tx) => {
      await billing.chargeInOrder(tx, [
        {
          message_id: world.app.platform.ids('msg'),
          account_id: account.id,
          mode: 'live',
          channel_type: 'sms',
          channel_id: 'ch_1',
          price_micros: 1000,
          created_at: new Date(world.clock.now()).toISOString(),
        },
      ])
    })
    return [
      ...(await world.pool<
        { recipient: string; body: string }[]
      >`select recipient, body from emails where subject like 'The balance is low%'`),
    ]
  }
  const [first, ...more] = await low()
  assert.deepEqual([first?.recipient, more], ['owner@example.com', []])
  assert.match(first!.body, new RegExp(`/console/${account.id}/live/billing`))
  assert.equal((await low()).length, 1)
  await world.clock.advance(24 * 3600_000)
  assert.equal((await low()).length, 2)
})

test('consent given in the console is marked so, and the console describes its operations', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const made = await client.send('POST', '/v1/contacts', { phone: '+4915112345678', consent: { sms: 'opted_in' } })
  assert.equal(made.body.consent.sms.source, 'console', JSON.stringify(made.body))
  const document = await consoleClient(world).send('GET', '/openapi.json')
  assert.deepEqual(
    [document.status, document.headers['cache-control'], document.body.info.title],
    [200, 'no-store', 'Posthorn console'],
  )
  assert.ok('/console/api/audit_entries' in document.body.paths)
  const refused = await consoleClient(world).send('GET', '/session')
  const page = await (await fetch(refused.body.error.doc_url.replace(/^https?:\/\/[^/]+/, world.base_url))).text()
  assert.ok(page.includes('id="session_required"'))
})

test('changes by commands are in the audit log', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  const { accounts, operators } = world.services
  const made = await operators.byCommand(
    { command: 'keys create', action: 'api_keys.create' },
    (tx) => accounts.createKey({ account_id: account.id, mode: 'test' }, tx),
    ({ id, key, name }) => ({ account_id: account.id, object_id: id, changes: { name, key } }),
  )
  const [entry] = await entries(client, '?actor=keys%20create')
  assert.deepEqual(
    [entry?.actor, entry?.object_id, entry?.request_id],
    [{ type: 'command', id: 'keys create' }, made.id, null],
  )
  assert.equal(entry?.changes['key'], '[masked]')
})
