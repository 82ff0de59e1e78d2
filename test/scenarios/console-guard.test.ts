/** The console's guard. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner } from '../support/console-api.ts'
import { startWorld } from '../support/world.ts'

const code = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code

test('the first owner is created once, with the newest link, and is signed in', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const old = await world.services.operators.offerSetup()
  const newest = await world.services.operators.offerSetup()
  const client = consoleClient(world)
  const owner = { name: 'Olivia', email: 'Owner@Example.com ', password: ownerPassword }
  const withToken = (link: string | null) => ({ ...owner, token: link!.split('#')[1] })

  assert.equal(code(await client.send('POST', '/setup', withToken(old))), 'token_invalid')
  for (const password of ['short', '123456789012', 'aaaaaaaaaaaaaaa'])
    assert.equal((await client.send('POST', '/setup', { ...withToken(newest), password })).body.error.param, 'password')
  const made = await client.send('POST', '/setup', withToken(newest))
  assert.equal(made.status, 201)
  assert.match(made.headers['set-cookie']!, /^posthorn=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=1209600$/)
  assert.equal(made.headers['cache-control'], 'no-store')
  assert.deepEqual(made.body.accounts, [{ id: account.id, name: made.body.accounts[0].name, role: 'owner' }])
  assert.deepEqual([made.body.user.email, made.body.user.admin], ['owner@example.com', true])
  assert.equal((await client.send('GET', '/session')).body.id, made.body.id)

  assert.equal(code(await consoleClient(world).send('POST', '/setup', withToken(newest))), 'token_invalid')
  assert.equal(await world.services.operators.offerSetup(), null)
})

test('concurrent uses of the set-up link create one owner', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const token = (await world.services.operators.offerSetup())!.split('#')[1]
  const answers = await Promise.all(
    ['a', 'b'].map((name) =>
      consoleClient(world).send('POST', '/setup', {
        token,
        name,
        email: `${name}@example.com`,
        password: ownerPassword,
      }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 400],
  )
})

test('operations of /v1 work with a session, for the given account and mode', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)

  const sent = await client.send('POST', '/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hello' },
  })
  assert.equal(sent.status, 202)
  assert.deepEqual(sent.body.origin, { type: 'console', id: (await client.send('GET', '/me')).body.id })
  assert.equal((await client.send('GET', '/v1/messages')).body.data.length, 1)
  client.mode = 'live'
  assert.equal((await client.send('GET', '/v1/messages')).body.data.length, 0)
  const endpoint = await client.send('POST', '/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] })
  assert.equal(endpoint.body.created_by.type, 'user')
})

test('checks are made in a fixed order', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_console: 5 } })
  const account = await world.account()
  const client = await signedInOwner(world)
  const stranger = consoleClient(world)

  assert.equal(
    code(await stranger.send('POST', '/v1/messages', {}, { 'service-console': undefined })),
    'csrf_header_missing',
  )
  assert.equal(code(await stranger.send('POST', '/v1/messages', {})), 'session_required')
  assert.equal(
    code(await stranger.send('GET', '/v1/messages', undefined, { authorization: `Bearer ${account.key}` })),
    'session_required',
  )
  assert.equal(
    code(await stranger.send('GET', '/v1/messages', undefined, { cookie: `posthorn=${'a'.repeat(43)}` })),
    'session_required',
  )
  for (const [name, value] of [
    ['origin', 'https://evil.example'],
    ['sec-fetch-site', 'same-site'],
    ['sec-fetch-site', 'cross-site'],
  ] as const)
    assert.equal(code(await stranger.send('POST', '/session', {}, { [name]: value })), 'csrf_header_missing')

  await world.clock.advance(1000)
  assert.equal(
    code(await client.send('GET', '/v1/messages', undefined, { 'service-account': undefined })),
    'account_required',
  )
  assert.equal(
    code(await client.send('GET', '/v1/messages', undefined, { 'service-account': 'acc_other' })),
    'account_required',
  )
  const unmoded = await client.send('GET', '/v1/messages', undefined, { 'service-mode': undefined })
  assert.deepEqual([unmoded.status, code(unmoded)], [400, 'parameter_missing'])
  assert.equal(
    code(await client.send('GET', '/v1/messages', undefined, { 'service-mode': 'prod' })),
    'parameter_invalid',
  )
  assert.equal((await client.send('GET', '/v1/messages')).status, 200)
  const limited = await client.send('POST', '/v1/messages', {}, { 'service-console': undefined })
  assert.deepEqual([limited.status, code(limited), limited.headers['retry-after']], [429, 'rate_limit_exceeded', '1'])
})

test('/v1 accepts no cookie', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const answer = await fetch(`${world.base_url}/v1/messages`, {
    headers: { cookie: client.cookie!, 'service-console': '1' },
  })
  assert.equal(answer.status, 401)
  assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'api_key_missing')
})

test('a role allows exactly what the table says', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const message = { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } }
  const asRole = async (role: string) => void (await world.pool`update memberships set role = ${role}`)

  await asRole('viewer')
  assert.equal((await client.send('GET', '/v1/messages')).status, 200)
  assert.equal(code(await client.send('POST', '/v1/messages', message)), 'role_not_allowed')
  assert.equal(code(await client.send('GET', '/v1/webhook_endpoints')), 'role_not_allowed')
  await asRole('developer')
  assert.equal((await client.send('POST', '/v1/messages', message)).status, 202)
  assert.equal((await client.send('GET', '/requests')).status, 200)
  client.mode = 'live'
  assert.equal(code(await client.send('POST', '/v1/messages', message)), 'role_not_allowed')
  await asRole('finance')
  assert.equal((await client.send('GET', '/v1/balance')).status, 200)
  assert.equal(code(await client.send('GET', '/v1/messages')), 'role_not_allowed')
  assert.equal(code(await client.send('GET', '/requests')), 'role_not_allowed')
})

test('five failures in a row lock an e-mail address for 15 minutes, known or not, while existing sessions continue', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const client = await signedInOwner(world)
  const other = consoleClient(world)
  const tries = async (email: string, password: string) => await other.send('POST', '/session', { email, password })

  for (const email of ['OWNER@example.com', 'nobody@example.com']) {
    for (let n = 1; n < 5; n++) {
      const wrong = await tries(email, 'wrong')
      assert.deepEqual([wrong.status, code(wrong)], [401, 'invalid_credentials'])
    }
    const fifth = await tries(email, 'wrong')
    assert.deepEqual([fifth.status, code(fifth), fifth.headers['retry-after']], [429, 'account_locked', '900'])
    assert.equal(code(await tries(email, ownerPassword)), 'account_locked')
  }
  assert.equal((await client.send('GET', '/session')).status, 200)

  await world.clock.advance(15 * 60_000)
  assert.equal((await tries('owner@example.com', ownerPassword)).status, 201)
})

test('an address may try to sign in twenty times a minute', async (t) => {
  const world = await startWorld(t)
  const client = consoleClient(world)
  for (let n = 0; n < 20; n++)
    await client.send('POST', '/session', { email: `nobody${n}@example.com`, password: 'wrong' })
  const limited = await client.send('POST', '/session', { email: 'else@example.com', password: 'wrong' })
  assert.deepEqual([limited.status, code(limited)], [429, 'rate_limit_exceeded'])
  await world.clock.advance(60_000)
  assert.equal(
    code(await client.send('POST', '/session', { email: 'else@example.com', password: 'wrong' })),
    'invalid_credentials',
  )
})

test('a session ends by sign-out, after twelve idle hours and after fourteen days; a new password ends the others', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const first = await signedInOwner(world)
  const signIn = async (password = ownerPassword) => {
    const client = consoleClient(world)
    assert.equal((await client.send('POST', '/session', { email: 'owner@example.com', password })).status, 201)
    return client
  }
  const isOpen = async (client: { send: typeof first.send }) => (await client.send('GET', '/session')).status === 200

  const second = await signIn()
  assert.equal((await first.send('GET', '/sessions')).body.data.length, 2)
  const cookie = second.cookie!
  await second.send('DELETE', '/session')
  assert.equal(second.cookie, undefined)
  second.cookie = cookie
  assert.equal(await isOpen(second), false)

  const third = await signIn()
  assert.equal(code(await first.send('PATCH', '/me', { new_password: 'another long password' })), 'parameter_missing')
  const wrong = await first.send('PATCH', '/me', { new_password: 'another long password', current_password: 'no' })
  assert.deepEqual(
    [wrong.status, code(wrong), wrong.body.error.param],
    [400, 'invalid_credentials', 'current_password'],
  )
  assert.equal(
    (
      await first.send('PATCH', '/me', {
        new_password: 'another long password',
        current_password: ownerPassword,
        name: 'Liv',
      })
    ).body.name,
    'Liv',
  )
  assert.deepEqual([await isOpen(first), await isOpen(third)], [true, false])

  for (let day = 0; day < 27; day++) {
    await world.clock.advance(12 * 3600_000 - 1)
    assert.equal(await isOpen(first), true, `after ${day} half days`)
  }
  await world.clock.advance(12 * 3600_000)
  assert.equal(await isOpen(first), false)
})
