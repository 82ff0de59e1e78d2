/** Nobody can lock somebody else out (behaviour: console 3.2, 3.11). */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient, refusal } from '../support/console-api.ts'
import { mailsTo, noMailServer } from '../support/mails.ts'
import { startWorld, type PlatformOptions, type World } from '../support/world.ts'

const email = 'owner@example.com'
const newPassword = 'seven green bottles'
const minute = 60_000
const hour = 60 * minute
const locked = [429, 'account_locked']
const wrong = [401, 'invalid_credentials']

const open = async (t: TestContext, settings: PlatformOptions['settings'] = {}): Promise<World> => {
  const world = await startWorld(t, {
    settings: { trusted_proxies: ['127.0.0.1'], rate_limit_sign_in: 1000, ...settings },
  })
  await world.account()
  return world
}

const signIn = async (world: World, address: string, password: string) =>
  await consoleClient(world).send('POST', '/session', { email, password }, { 'x-forwarded-for': address })

async function wrongly(world: World, address: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) assert.deepEqual(refusal(await signIn(world, address, 'wrong')), wrong)
}

test('five wrong passwords lock their own network, and nobody else', async (t) => {
  const world = await open(t)
  await signedInOwner(world)
  await wrongly(world, '2001:db8:1:1::1', 4)
  assert.deepEqual(refusal(await signIn(world, '2001:db8:1:1:ffff::2', 'wrong')), locked)
  assert.deepEqual(refusal(await signIn(world, '2001:db8:1:1::3', ownerPassword)), locked)
  assert.equal((await signIn(world, '2001:db8:1:2::1', ownerPassword)).status, 201)
  assert.equal((await signIn(world, '203.0.113.9', ownerPassword)).status, 201)

  await world.clock.advance(15 * minute)
  assert.equal((await signIn(world, '2001:db8:1:1::1', ownerPassword)).status, 201)
})

test('a right password resets the failures of its own network only', async (t) => {
  const world = await open(t)
  await signedInOwner(world)
  await wrongly(world, '203.0.113.1', 4)
  await wrongly(world, '203.0.113.2', 4)
  assert.equal((await signIn(world, '203.0.113.2', ownerPassword)).status, 201)
  await wrongly(world, '203.0.113.2', 4)
  assert.deepEqual(refusal(await signIn(world, '203.0.113.1', 'wrong')), locked)
})

/** As if they had come from many networks. */
async function failedElsewhere({ pool, clock }: World, address: string, times: number): Promise<void> {
  const email_hash = hash('sha256', `sign-in ${address}`, 'hex')
  await pool`
    insert into sign_in_failures (email_hash, origin, failed_at, locked_until, at)
    values (${email_hash}, '', array_fill(${clock.iso()}::timestamptz, array[${times}::int]), null, ${clock.iso()})`
}

test('a hundred failures in an hour lock an e-mail address for all, except sessions and resets', async (t) => {
  const world = await open(t, noMailServer)
  const owner = await signedInOwner(world)
  for (const address of [email, 'nobody@example.com']) await failedElsewhere(world, address, 98)
  await wrongly(world, '203.0.113.1', 1)
  const hundredth = await signIn(world, '203.0.113.2', 'wrong')
  assert.deepEqual([...refusal(hundredth), hundredth.headers['retry-after']], [...locked, '900'])
  assert.deepEqual(refusal(await signIn(world, '203.0.113.3', ownerPassword)), locked)
  const unknown = { email: 'nobody@example.com', password: 'wrong' }
  for (const expected of [wrong, locked, locked])
    assert.deepEqual(refusal(await consoleClient(world).send('POST', '/session', unknown)), expected)

  await world.clock.advance(11 * minute)
  assert.equal((await owner.send('POST', '/reauthenticate', { password: ownerPassword })).status, 200)
  assert.equal(
    (await owner.send('PATCH', '/me', { current_password: ownerPassword, new_password: newPassword })).status,
    200,
  )
  const { token } = await requestReset(world)
  assert.equal((await confirmReset(world, token)).status, 200)
  assert.equal((await signIn(world, '203.0.113.3', newPassword)).status, 201)
})

test('failures of an hour ago do not count among the hundred', async (t) => {
  const world = await open(t)
  await signedInOwner(world)
  await failedElsewhere(world, email, 99)
  await world.clock.advance(hour)
  await wrongly(world, '203.0.113.1', 1)
  assert.equal((await signIn(world, '203.0.113.1', ownerPassword)).status, 201)
})

test('wrong passwords in a session lock only this session, and no sign-in', async (t) => {
  const world = await open(t)
  const owner = await signedInOwner(world)
  const other = consoleClient(world)
  await other.send('POST', '/session', { email, password: ownerPassword })
  const again = async (client: ConsoleClient, password: string) =>
    refusal(await client.send('POST', '/reauthenticate', { password }))
  for (let n = 1; n < 5; n++) assert.deepEqual(await again(other, 'wrong'), [400, 'invalid_credentials'])
  assert.deepEqual(await again(other, 'wrong'), locked)
  assert.deepEqual(await again(other, ownerPassword), locked)
  assert.deepEqual(await again(owner, ownerPassword), [200, undefined])
  assert.equal((await signIn(world, '127.0.0.1', ownerPassword)).status, 201)
})

test('addresses of one IPv6 /64 share the tries of a minute; resets have their own', async (t) => {
  const world = await open(t, { rate_limit_sign_in: 3 })
  const attempt = async (host: number, path = '/session') =>
    await consoleClient(world).send(
      'POST',
      path,
      { email: `nobody${host}@example.com`, ...(path === '/session' ? { password: 'wrong' } : {}) },
      { 'x-forwarded-for': `2001:db8:1:1::${host}` },
    )
  for (const host of [1, 2, 3]) assert.deepEqual(refusal(await attempt(host)), wrong)
  assert.deepEqual(refusal(await attempt(4)), [429, 'rate_limit_exceeded'])
  assert.equal((await attempt(5, '/password_resets')).status, 202)
  await world.services.operators.resets.flush()
})

async function requestReset(world: World) {
  assert.equal((await consoleClient(world).send('POST', '/password_resets', { email })).status, 202)
  await world.services.operators.resets.flush()
  const mails = (await mailsTo(world, email)).filter(({ subject }) => subject === 'Choose a new password')
  return { token: mails.at(-1)!.token!, count: mails.length }
}

const confirmReset = async (world: World, token: string, password = newPassword) =>
  await consoleClient(world).send('POST', '/password_resets/confirm', { token, password })

test('an earlier link for a new password stays valid until one is used, and each person gets three an hour and ten a day', async (t) => {
  const world = await open(t, noMailServer)
  await signedInOwner(world)
  const first = await requestReset(world)
  const second = await requestReset(world)
  assert.equal((await requestReset(world)).count, 3)
  assert.equal((await requestReset(world)).count, 3)
  assert.equal((await confirmReset(world, first.token)).status, 200)
  assert.deepEqual(refusal(await confirmReset(world, second.token)), [400, 'token_invalid'])

  await world.clock.advance(hour - 1)
  assert.equal((await requestReset(world)).count, 3)
  await world.clock.advance(1)
  for (let n = 4; n <= 10; n++) {
    assert.equal((await requestReset(world)).count, n)
    await world.clock.advance(20 * minute)
  }
  assert.equal((await requestReset(world)).count, 10)
  await world.clock.advance(24 * hour)
  assert.equal((await requestReset(world)).count, 11)
})

test('links for a new password end with a change of the password or the e-mail address, and when one is used', async (t) => {
  const world = await open(t, noMailServer)
  const owner = await signedInOwner(world)
  const byPassword = await requestReset(world)
  await owner.send('PATCH', '/me', { current_password: ownerPassword, new_password: newPassword })
  assert.deepEqual(refusal(await confirmReset(world, byPassword.token)), [400, 'token_invalid'])

  const byEmail = await requestReset(world)
  await owner.send('PATCH', '/me', { email: 'olivia@example.com' })
  const [confirmation] = await mailsTo(world, 'olivia@example.com')
  const confirmed = await consoleClient(world).send('POST', '/email_confirmations', { token: confirmation!.token })
  assert.equal(confirmed.status, 200)
  assert.deepEqual(refusal(await confirmReset(world, byEmail.token)), [400, 'token_invalid'])
})

test('many tries at once from one network are refused beyond twenty, and others still sign in', async (t) => {
  const world = await open(t)
  await signedInOwner(world)
  const flood = Array.from({ length: 60 }, (_, n) =>
    consoleClient(world).send(
      'POST',
      '/session',
      { email: `nobody${n}@example.com`, password: 'wrong' },
      { 'x-forwarded-for': `2001:db8:1:1::${n}` },
    ),
  )
  const other = await signIn(world, '203.0.113.9', ownerPassword)
  const answers = await Promise.all(flood)
  assert.equal(other.status, 201)
  const limited = answers.filter(({ status }) => status === 429)
  assert.ok(limited.length > 0 && limited.length <= 40, `${limited.length} of 60 were refused`)
  for (const answer of limited)
    assert.deepEqual([...refusal(answer), answer.headers['retry-after']], [429, 'rate_limit_exceeded', '1'])
})
