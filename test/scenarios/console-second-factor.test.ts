/** Second factor, password confirmation and sign-in without a password. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { secondFactorPeriodicJobs } from '../../src/modules/console/sign-in/second-factor.ts'
import { openSecrets } from '../../src/platform/secrets/secrets.ts'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { startWorld, testSecretKeys, type World } from '../support/world.ts'

const code = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const email = 'owner@example.com'
const minute = 60_000

const shown = (secret: string, at: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })

async function withFactor(world: World, client: ConsoleClient): Promise<{ secret: string; recovery_codes: string[] }> {
  const begun = await client.send('POST', '/two_factor')
  assert.equal(begun.status, 201)
  const confirmed = await client.send('POST', '/two_factor/confirm', {
    code: shown(begun.body.secret, world.clock.now()),
  })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  return { secret: begun.body.secret, recovery_codes: confirmed.body.recovery_codes }
}

const signIn = async (world: World, given: object) => {
  const client = consoleClient(world)
  return { client, answer: await client.send('POST', '/session', { email, password: ownerPassword, ...given }) }
}

test('a second factor applies from its first code, ends other sessions, and accepts each code once', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const client = await signedInOwner(world)
  const elsewhere = (await signIn(world, {})).client

  assert.equal(code(await client.send('POST', '/two_factor/confirm', { code: '123456' })), 'resource_missing')
  const begun = await client.send('POST', '/two_factor')
  assert.match(
    begun.body.otpauth_url,
    /^otpauth:\/\/totp\/Posthorn:owner%40example\.com\?issuer=Posthorn&secret=[A-Z2-7]{32}&algorithm=SHA1&digits=6&period=30$/,
  )
  const wrong = await client.send('POST', '/two_factor/confirm', { code: '000000' })
  assert.deepEqual([wrong.status, code(wrong), wrong.body.error.param], [400, 'invalid_credentials', 'code'])
  assert.equal((await signIn(world, {})).answer.status, 201)

  const first = shown(begun.body.secret, world.clock.now())
  const confirmed = await client.send('POST', '/two_factor/confirm', { code: first })
  assert.equal(new Set(confirmed.body.recovery_codes).size, 10)
  assert.equal((await client.send('GET', '/me')).body.two_factor, true)
  assert.equal(code(await elsewhere.send('GET', '/session')), 'session_required')

  const bare = await signIn(world, {})
  assert.deepEqual([bare.answer.status, code(bare.answer)], [401, 'mfa_required'])
  assert.equal(code((await signIn(world, { code: first })).answer), 'invalid_credentials')
  const now = world.clock.now()
  assert.equal(
    code((await signIn(world, { code: shown(begun.body.secret, now + 2 * 30_000) })).answer),
    'invalid_credentials',
  )
  const next = shown(begun.body.secret, now + 30_000)
  const both = await Promise.all([signIn(world, { code: next }), signIn(world, { code: next })])
  assert.deepEqual(
    both.map(({ answer }) => answer.status).toSorted((a, b) => a - b),
    [201, 401],
  )
  await world.clock.advance(minute)
  assert.equal((await signIn(world, { code: shown(begun.body.secret, world.clock.now() - 30_000) })).answer.status, 401)
  assert.equal((await signIn(world, { code: shown(begun.body.secret, world.clock.now()) })).answer.status, 201)
})

test('a recovery code works once, in any spelling; users without a second factor are not asked for a code', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const { recovery_codes } = await withFactor(world, client)

  assert.equal((await signIn(world, { code: recovery_codes[0] })).answer.status, 201)
  assert.equal((await signIn(world, { code: recovery_codes[0] })).answer.status, 401)
  assert.equal(
    (await signIn(world, { code: ` ${recovery_codes[1]!.replace('-', ' ').toUpperCase()} ` })).answer.status,
    201,
  )
  const [kept] = await world.pool`select second_factor, recovery_codes from users`
  assert.equal(kept!['recovery_codes'].length, 8)
  assert.ok(!JSON.stringify(kept).includes(recovery_codes[2]!))

  assert.equal((await client.send('DELETE', '/two_factor')).status, 200)
  assert.equal((await signIn(world, {})).answer.status, 201)
})

test('wrong codes lock like wrong passwords, and the right password alone does not reset the count', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const client = await signedInOwner(world)
  const { recovery_codes } = await withFactor(world, client)

  for (let n = 1; n < 5; n++) {
    assert.equal(code((await signIn(world, { code: '000000' })).answer), 'invalid_credentials')
    assert.equal(code((await signIn(world, {})).answer), 'mfa_required')
  }
  assert.equal(code((await signIn(world, { code: '000000' })).answer), 'account_locked')
  assert.equal(code((await signIn(world, { code: recovery_codes[0] })).answer), 'account_locked')
  assert.equal((await client.send('GET', '/session')).status, 200)
})

test('sensitive changes need a recent password, and a code if there is a second factor', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const client = await signedInOwner(world)
  const again = async (body: object) => await client.send('POST', '/reauthenticate', body)

  await world.clock.advance(10 * minute + 1)
  assert.equal(code(await client.send('POST', '/two_factor')), 'reauthentication_required')
  assert.equal(code(await client.send('DELETE', '/two_factor')), 'reauthentication_required')
  assert.equal(code(await client.send('DELETE', '/me/password')), 'reauthentication_required')
  assert.equal(code(await client.send('PATCH', '/me', { email: 'new@example.com' })), 'reauthentication_required')
  assert.equal((await client.send('PATCH', '/me', { name: 'Liv' })).status, 200)
  const wrong = await again({ password: 'wrong' })
  assert.deepEqual([wrong.status, code(wrong), wrong.body.error.param], [400, 'invalid_credentials', 'password'])
  assert.equal((await again({ password: ownerPassword })).body.object, 'session')
  assert.equal((await client.send('PATCH', '/me', { email: 'new@example.com' })).body.pending_email, 'new@example.com')

  const { recovery_codes } = await withFactor(world, client)
  await world.clock.advance(10 * minute + 1)
  assert.equal(code(await again({ password: ownerPassword })), 'mfa_required')
  const wrongCode = await again({ password: ownerPassword, code: '000000' })
  assert.deepEqual(
    [wrongCode.status, code(wrongCode), wrongCode.body.error.param],
    [400, 'invalid_credentials', 'code'],
  )
  assert.equal(code(await client.send('DELETE', '/two_factor')), 'reauthentication_required')
  assert.equal((await again({ password: ownerPassword, code: recovery_codes[0] })).status, 200)
  assert.equal((await client.send('DELETE', '/two_factor')).status, 200)

  for (let n = 1; n < 5; n++) assert.equal(code(await again({ password: 'wrong' })), 'invalid_credentials')
  const locked = await again({ password: 'wrong' })
  assert.deepEqual([locked.status, code(locked), locked.headers['retry-after']], [429, 'account_locked', '900'])
})

test('with a second factor, whatever asks for the current password asks for a code too', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const { recovery_codes } = await withFactor(world, client)
  for (const [n, change] of [{ new_password: 'seven green bottles' }, { email: 'olivia@example.com' }].entries()) {
    const current = { current_password: n === 0 ? ownerPassword : 'seven green bottles' }
    const without = await client.send('PATCH', '/me', { ...change, ...current })
    assert.deepEqual([without.status, code(without)], [401, 'mfa_required'])
    const wrong = await client.send('PATCH', '/me', { ...change, ...current, code: '000000' })
    assert.deepEqual([wrong.status, code(wrong), wrong.body.error.param], [400, 'invalid_credentials', 'code'])
    const right = await client.send('PATCH', '/me', { ...change, ...current, code: recovery_codes[n] })
    assert.equal(right.status, 200, JSON.stringify(right.body))
    const twice = await client.send('PATCH', '/me', { ...change, ...current, code: recovery_codes[n] })
    assert.equal(twice.status, 400)
  }
})

test('a second factor is set up in a session that gave the password recently, to its first code', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const begun = await client.send('POST', '/two_factor')
  await world.clock.advance(10 * minute + 1)
  const confirm = () =>
    client.send('POST', '/two_factor/confirm', { code: shown(begun.body.secret, world.clock.now()) })
  const late = await confirm()
  assert.deepEqual([late.status, code(late)], [403, 'reauthentication_required'])
  assert.equal((await client.send('POST', '/reauthenticate', { password: ownerPassword })).status, 200)
  assert.equal((await confirm()).status, 200)
})

test('a person with a second factor and no password confirms with the code alone', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const { recovery_codes } = await withFactor(world, client)
  await world.pool`update users set password_hash = null`
  await world.clock.advance(10 * minute + 1)
  const missing = await client.send('POST', '/reauthenticate', {})
  assert.deepEqual([missing.status, code(missing)], [400, 'invalid_credentials'])
  assert.equal(code(await client.send('POST', '/reauthenticate', { code: '000000' })), 'invalid_credentials')
  assert.equal((await client.send('POST', '/reauthenticate', { code: recovery_codes[0] })).status, 200)
  assert.equal((await client.send('DELETE', '/two_factor')).status, 200)
})

test('nobody can remove their only way to sign in', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const refused = await client.send('DELETE', '/me/password')
  assert.deepEqual([refused.status, code(refused)], [409, 'last_sign_in_method'])
})

test('signed-out visitors learn which ways to sign in exist', async (t) => {
  const world = await startWorld(t)
  await world.account()
  assert.deepEqual((await consoleClient(world).send('GET', '/setup')).body, {
    object: 'setup',
    needed: true,
    mail: false,
    oauth: null,
  })
  const client = await signedInOwner(world)
  assert.equal((await client.send('GET', '/setup')).body.needed, false)
})

test('after a rotation of the secret key, second factors are encrypted with the new key', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const { secret } = await withFactor(world, client)
  const next = Buffer.alloc(32, 9).toString('base64')
  const secrets = await openSecrets(world.pool, { current: next, previous: [testSecretKeys.current] })

  for (const periodicJob of secondFactorPeriodicJobs({ ...world.platform, secrets })) await periodicJob.run()

  const [row] = await world.pool<{ second_factor: string }[]>`select second_factor from users`
  assert.equal((await openSecrets(world.pool, { current: next, previous: [] })).open(row!.second_factor), secret)
})
