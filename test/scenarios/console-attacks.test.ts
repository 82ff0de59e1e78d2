/** Attacks on the console's guard (docs/reference/threat-model.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword } from '../../src/modules/console/people/passwords.ts'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient, refusal } from '../support/console-api.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type World } from '../support/world.ts'

const email = 'owner@example.com'
const newPassword = 'seven green bottles'
const hour = 3600_000
const noSession = [401, 'session_required']
const noLink = [400, 'token_invalid']

async function signIn(world: World, client = consoleClient(world), password = ownerPassword): Promise<ConsoleClient> {
  const answer = await client.send('POST', '/session', { email, password })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return client
}

function thief(world: World, { cookie }: ConsoleClient): ConsoleClient {
  const client = consoleClient(world)
  client.cookie = cookie
  return client
}

test('an invented, truncated, extended or database cookie signs nobody in', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const value = owner.cookie!.split('=')[1]!
  const [kept] = await world.pool<{ id: string; token_hash: string }[]>`select id, token_hash from sessions`
  const { id } = (await owner.send('GET', '/session')).body
  assert.equal(kept!.id, id)
  assert.ok(!JSON.stringify(await world.pool`select * from sessions`).includes(value))

  const swapped = `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`
  const forged = [
    '',
    '=',
    'null',
    id,
    kept!.token_hash,
    value.slice(0, -1),
    `${value}A`,
    swapped,
    value.toUpperCase(),
    `${value}%00`,
    "' or 1=1 --",
    '__proto__',
    'a'.repeat(7000),
  ]
  for (const cookie of forged.filter((each) => each !== value)) {
    const answer = await consoleClient(world).send('GET', '/session', undefined, { cookie: `posthorn=${cookie}` })
    assert.deepEqual(refusal(answer), noSession, cookie.slice(0, 60))
  }
  for (const name of ['Posthorn', '__Host-posthorn', 'posthorn2', 'x; y=posthorn'])
    assert.deepEqual(
      refusal(await consoleClient(world).send('GET', '/session', undefined, { cookie: `${name}=${value}` })),
      noSession,
      name,
    )
})

test('signing in always starts a new session, so that session fixation fails', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const attacker = await signedInOwner(world)
  const fixed = 'f'.repeat(43)
  for (const planted of [`posthorn=${fixed}`, attacker.cookie!]) {
    const victim = consoleClient(world)
    victim.cookie = planted
    await signIn(world, victim)
    assert.notEqual(victim.cookie, planted)
    assert.equal((await victim.send('GET', '/session')).status, 200)
  }
  assert.deepEqual(
    refusal(await consoleClient(world).send('GET', '/session', undefined, { cookie: `posthorn=${fixed}` })),
    noSession,
  )
})

test('a stolen session ends when its owner signs out, changes the password, or resets it', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const owner = await signedInOwner(world)
  const first = await signIn(world)
  const stolen = thief(world, first)
  assert.equal((await stolen.send('GET', '/session')).status, 200)
  await first.send('DELETE', '/session')
  assert.deepEqual(refusal(await stolen.send('GET', '/session')), noSession)

  const again = thief(world, await signIn(world))
  assert.equal(
    (await owner.send('PATCH', '/me', { current_password: ownerPassword, new_password: newPassword })).status,
    200,
  )
  assert.deepEqual(refusal(await again.send('GET', '/session')), noSession)
  assert.equal((await owner.send('GET', '/session')).status, 200)

  const { link } = await world.services.operators.people.resetPassword(email)
  const token = link.split('#')[1]
  assert.equal(
    (await consoleClient(world).send('POST', '/password_resets/confirm', { token, password: ownerPassword })).status,
    200,
  )
  assert.deepEqual(refusal(await thief(world, owner).send('GET', '/session')), noSession)
})

test('a password that changes while it is being checked starts no session', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const [proved] = await world.pool<
    {
      id: `usr_${string}`
      email: string
      pending_email: string | null
      name: string
      password_hash: string
      admin: boolean
      two_factor: boolean
      created_at: string
    }[]
  >`
    select id, email, pending_email, name, password_hash, admin, second_factor_at is not null as two_factor, created_at from users`
  const from = { address: '203.0.113.9', user_agent: '' }
  const begin = () => world.services.operators.sessions.begin(world.pool, proved!, from)
  await begin()
  assert.equal(
    (await owner.send('PATCH', '/me', { current_password: ownerPassword, new_password: newPassword })).status,
    200,
  )
  await assert.rejects(begin(), { code: 'invalid_credentials' })
  const [left] = await world.pool<{ sessions: number }[]>`select count(*)::int as sessions from sessions`
  assert.equal(left!.sessions, 1, 'that of the owner, who changed it')
})

test('a concurrent password change neither undoes a reset nor survives one with its session', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const { link } = await world.services.operators.people.resetPassword(email)
  const chosen = 'the words that the owner chose'

  const asked = await holdOpen(world.pool, async (tx) => {
    await tx`select from users for update`
    const reset = consoleClient(world).send('POST', '/password_resets/confirm', {
      token: link.split('#')[1],
      password: chosen,
    })
    await until(
      'the reset to wait for the user',
      () => lockWaits(world.pool),
      (waits) => waits === 1,
    )
    const change = owner.send('PATCH', '/me', { current_password: ownerPassword, new_password: newPassword })
    await until(
      'the change to wait for the user',
      () => lockWaits(world.pool),
      (waits) => waits === 2,
    )
    return { reset, change }
  })

  assert.equal((await asked.reset).status, 200)
  assert.deepEqual(refusal(await asked.change), noSession)
  assert.equal((await (await signIn(world, consoleClient(world), chosen)).send('GET', '/session')).status, 200)
})

test('a stolen session cannot make sensitive changes without the password', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const stolen = thief(world, owner)
  stolen.account = owner.account
  stolen.mode = 'live'
  await world.clock.advance(11 * 60_000)

  for (const [method, path, body] of [
    ['PATCH', '/me', { email: 'thief@example.com' }],
    ['POST', '/two_factor', undefined],
    ['DELETE', '/two_factor', undefined],
    ['DELETE', '/me/password', undefined],
    ['POST', '/invitations', { email: 'thief@example.com', role: 'owner' }],
    ['POST', '/api_keys', { mode: 'live' }],
    ['GET', '/v1/contacts/export', undefined],
    ['POST', '/admin/impersonations', { account: owner.account, reason: 'Because' }],
    [
      'POST',
      '/v1/channels',
      { type: 'sms', provider: 'simulator', name: 'S', identifier: '+15005550199', credentials: {} },
    ],
  ] as const)
    assert.deepEqual(refusal(await stolen.send(method, path, body)), [403, 'reauthentication_required'], path)
  assert.deepEqual(refusal(await stolen.send('PATCH', '/me', { new_password: newPassword })), [
    400,
    'parameter_missing',
  ])
})

test('a link works for one purpose, once, until it expires', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const stranger = consoleClient(world)
  const tokenOf = (link: string) => link.split('#')[1]!
  const setUp = (token: string) =>
    stranger.send('POST', '/setup', { token, name: 'Eve', email: 'eve@example.com', password: newPassword })
  const reset = (token: string) => stranger.send('POST', '/password_resets/confirm', { token, password: newPassword })
  const accept = (token: string) =>
    stranger.send('POST', '/invitations/accept', { token, name: 'Eve', password: newPassword })

  const late = tokenOf((await world.services.operators.offerSetup())!)
  await world.clock.advance(24 * hour)
  assert.deepEqual(refusal(await setUp(late)), noLink)
  const owner = await signedInOwner(world)
  const invited = async (name: string) =>
    tokenOf((await owner.send('POST', '/invitations', { email: `${name}@example.com`, role: 'viewer' })).body.url)
  const links = {
    reset: tokenOf((await world.services.operators.people.resetPassword(email)).link),
    invitation: await invited('eve'),
  }

  for (const token of [links.reset, links.invitation, '', '#', 'x'.repeat(43), '\u0000'])
    assert.ok([400].includes((await setUp(token)).status), token)
  assert.deepEqual(refusal(await reset(links.invitation)), noLink)
  assert.deepEqual(refusal(await accept(links.reset)), noLink)
  assert.equal((await reset(links.reset)).status, 200)
  assert.deepEqual(refusal(await reset(links.reset)), noLink)
  assert.equal((await accept(links.invitation)).status, 201)
  assert.deepEqual(refusal(await accept(links.invitation)), noLink)

  const slow = tokenOf((await world.services.operators.people.resetPassword(email)).link)
  await world.clock.advance(hour)
  assert.deepEqual(refusal(await reset(slow)), noLink)
  const again = await signIn(world, consoleClient(world), newPassword)
  const { id } = (await again.send('GET', '/session')).body.accounts[0]
  const { url } = (
    await again.send('POST', '/invitations', { email: 'cem@example.com', role: 'viewer' }, { 'service-account': id })
  ).body
  await world.clock.advance(7 * 24 * hour)
  assert.deepEqual(refusal(await accept(tokenOf(url))), noLink)
  assert.deepEqual(refusal(await stranger.send('POST', '/invitations/preview', { token: tokenOf(url) })), noLink)
})

test('neither sign-in nor reset reveals whether an e-mail address is known', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  await signedInOwner(world)
  const said = async (path: string, given: object) => {
    const { status, body, headers } = await consoleClient(world).send('POST', path, given)
    return [status, JSON.stringify(body).replaceAll(/req_\w+/g, ''), headers['set-cookie']]
  }
  for (const password of ['wrong', newPassword])
    assert.deepEqual(
      await said('/session', { email, password }),
      await said('/session', { email: 'nobody@example.com', password }),
    )
  assert.deepEqual(
    await said('/password_resets', { email }),
    await said('/password_resets', { email: 'nobody@example.com' }),
  )
  await world.services.operators.resets.flush()
})

test('other sites can neither send requests nor frame the console', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const origin = 'https://evil.example'

  const preflight = await fetch(`${world.base_url}/console/api/me`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'service-console' },
  })
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
  const read = await owner.send('GET', '/me', undefined, { origin })
  assert.deepEqual(
    [read.headers['access-control-allow-origin'], read.headers['access-control-allow-credentials']],
    [undefined, undefined],
  )
  for (const headers of [
    { origin },
    { 'sec-fetch-site': 'cross-site' },
    { 'service-console': undefined },
    { origin: 'null' },
    { origin: `${world.base_url}.evil.example` },
  ])
    assert.deepEqual(refusal(await owner.send('PATCH', '/me', { name: 'Eve' }, headers)), [403, 'csrf_header_missing'])
  assert.equal((await owner.send('GET', '/me')).body.name, 'Olivia Owner')
  // a form sends text and lacks the header
  const form = { 'content-type': 'text/plain', 'service-console': undefined }
  assert.deepEqual(refusal(await owner.send('POST', '/two_factor', '{}', form)), [403, 'csrf_header_missing'])
})

async function joined(world: World, inviter: ConsoleClient, role: string): Promise<ConsoleClient> {
  const { url } = (await inviter.send('POST', '/invitations', { email: `${role}@example.com`, role })).body
  const client = consoleClient(world)
  const accepted = await client.send('POST', '/invitations/accept', {
    token: url.split('#')[1],
    name: role,
    password: newPassword,
  })
  assert.equal(accepted.status, 201, JSON.stringify(accepted.body))
  client.account = inviter.account
  client.mode = inviter.mode
  return client
}

test('a member with a lowered role loses the invitations that exceed it', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const owner = await signedInOwner(world)
  const admin = await joined(world, owner, 'admin')
  const { id } = (await admin.send('GET', '/me')).body
  const inviteAs = async (by: ConsoleClient, role: string) =>
    (await by.send('POST', '/invitations', { email: `${role}-${by === admin}@example.com`, role })).body.url.split(
      '#',
    )[1]
  const accept = (token: string) =>
    consoleClient(world).send('POST', '/invitations/accept', { token, name: 'Eve', password: newPassword })
  const others = await inviteAs(owner, 'viewer')

  assert.equal((await owner.send('PATCH', `/members/${id}`, { role: 'owner' })).status, 200)
  const [asOwner, asAdmin] = [await inviteAs(admin, 'owner'), await inviteAs(admin, 'admin')]
  assert.equal((await owner.send('PATCH', `/members/${id}`, { role: 'admin' })).status, 200)
  assert.deepEqual(refusal(await accept(asOwner)), noLink)
  assert.equal((await accept(asAdmin)).status, 201)
  const asAgent = await inviteAs(admin, 'agent')
  assert.equal((await owner.send('PATCH', `/members/${id}`, { role: 'viewer' })).status, 200)
  assert.deepEqual(refusal(await accept(asAgent)), noLink)
  assert.equal((await accept(others)).status, 201)
})

test('a top-up in test mode is refused whatever its body', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  for (const body of [{}, { amount_micros: 'much' }, { amount_micros: 5_000_000 }])
    assert.deepEqual(refusal(await owner.send('POST', '/top_ups', body)), [403, 'live_mode_required'])
  assert.deepEqual(
    refusal(await owner.send('POST', '/top_ups', '{bad', { 'content-type': 'application/json; charset=utf-8' })),
    [403, 'live_mode_required'],
  )
  assert.deepEqual(refusal(await owner.send('GET', '/top_ups?limit=many')), [403, 'live_mode_required'])
  owner.mode = 'live'
  assert.deepEqual(refusal(await owner.send('POST', '/top_ups', {})), [400, 'parameter_missing'])
})

test('an answer is replayed only to the person who got it, while they still have permission', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const owner = await signedInOwner(world)
  const [admin, developer] = [await joined(world, owner, 'admin'), await joined(world, owner, 'developer')]
  const headers = { 'idempotency-key': 'one' }
  const liveKey = (by: ConsoleClient) => by.send('POST', '/api_keys', { name: 'prod', mode: 'live' }, headers)
  const testKey = (by: ConsoleClient) =>
    by.send('POST', '/api_keys', { name: 'try', mode: 'test' }, { 'idempotency-key': 'two' })
  const newOwner = (by: ConsoleClient) =>
    by.send('POST', '/invitations', { email: 'eve@example.com', role: 'owner' }, headers)

  const made = { live: await liveKey(owner), test: await testKey(owner), owner: await newOwner(owner) }
  assert.deepEqual([made.live.status, made.test.status, made.owner.status], [201, 201, 201])
  assert.deepEqual(refusal(await liveKey(developer)), [403, 'role_not_allowed'])
  assert.deepEqual(refusal(await newOwner(admin)), [403, 'role_not_allowed'])
  const own = await testKey(developer)
  assert.deepEqual(
    [own.status, own.headers['idempotent-replayed'], own.body.key === made.test.body.key],
    [201, undefined, false],
  )

  const again = [await liveKey(owner), await newOwner(owner)]
  assert.deepEqual(
    again.map(({ body, headers: { 'idempotent-replayed': replayed } }) => [body, replayed]),
    [made.live.body, made.owner.body].map((body) => [body, 'true']),
  )
  await world.clock.advance(11 * 60_000)
  for (const send of [liveKey, newOwner])
    assert.deepEqual(refusal(await send(owner)), [403, 'reauthentication_required'])
  const { id } = (await owner.send('GET', '/me')).body
  await world.pool`update memberships set role = 'developer' where user_id = ${id}`
  assert.deepEqual(refusal(await liveKey(owner)), [403, 'role_not_allowed'])
})

test('a password hashed with other argon2 parameters still signs in, and is then rehashed', async (t) => {
  const world = await startWorld(t)
  await world.account()
  await signedInOwner(world)
  const stored = async () => (await world.pool<{ password_hash: string }[]>`select password_hash from users`)[0]!
  const { password_hash: today } = await stored()
  const costOf = (hash: string) => hash.split('$')[3]
  const older = await hashPassword(ownerPassword, { memory: 64, passes: 1, parallelism: 2 })
  await world.pool`update users set password_hash = ${older}`

  const wrong = await consoleClient(world).send('POST', '/session', { email, password: newPassword })
  assert.deepEqual(refusal(wrong), [401, 'invalid_credentials'])
  assert.equal((await stored()).password_hash, older)

  await signIn(world)
  const { password_hash: rehashed } = await stored()
  assert.equal(costOf(rehashed), costOf(today))
  await signIn(world)
  assert.equal((await stored()).password_hash, rehashed)
})
