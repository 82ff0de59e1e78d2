/** Sign-in with an OIDC provider. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { simulateOidc } from '../support/simulators/oidc.ts'
import { startWorld, type World } from '../support/world.ts'

const code = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const minute = 60_000

async function openWorld(t: TestContext) {
  const provider = await simulateOidc(t)
  const oidc = {
    issuer: provider.url,
    client_id: provider.client_id,
    client_secret: provider.client_secret,
    name: 'Acme ID',
  }
  const world = await startWorld(t, { settings: { oidc, rate_limit_sign_in: 1000 } })
  await world.account()
  return { provider, world }
}

async function open(world: World, client: ConsoleClient, jar: Map<string, string>, url: string) {
  const base = world.platform.settings.base_url
  const target = url.startsWith(base) ? `${world.base_url}${url.slice(base.length)}` : new URL(url, world.base_url).href
  const cookie = [client.cookie, ...[...jar].map(([name, value]) => `${name}=${value}`)]
    .filter((each) => each !== undefined)
    .join('; ')
  const answer = await fetch(target, { redirect: 'manual', headers: { cookie } })
  for (const set of answer.headers.getSetCookie()) {
    const [name, value] = set.split(';', 1)[0]!.split('=') as [string, string]
    if (name === 'posthorn') client.cookie = `posthorn=${value}`
    else jar.set(name, value)
  }
  return { status: answer.status, location: answer.headers.get('location') ?? '' }
}

async function travel(
  world: World,
  client: ConsoleClient,
  query = '',
  between: (back: string) => string | Promise<string> = (back) => back,
) {
  const jar = new Map<string, string>()
  const begun = await open(world, client, jar, `/console/api/oauth/start${query}`)
  assert.equal(begun.status, 302)
  if (begun.location.startsWith('/')) return begun.location
  const there = await open(world, client, jar, begun.location)
  return (await open(world, client, jar, await between(there.location))).location
}

async function linked(world: World, client: ConsoleClient): Promise<void> {
  assert.equal(await travel(world, client, '?link=1'), '/console/profile?identity=pending')
  assert.equal((await client.send('POST', '/oauth/pending', { action: 'link' })).status, 201)
}

test('a signed-in user links an identity, which then signs them in', async (t) => {
  const { world, provider } = await openWorld(t)
  provider.person = { sub: 'u1', email: 'ada@acme.example' }
  assert.deepEqual((await consoleClient(world).send('GET', '/setup')).body.oauth, { name: 'Acme ID' })
  const owner = await signedInOwner(world)
  assert.equal(code(await owner.send('GET', '/oauth/pending')), 'oauth_pending_expired')

  assert.equal(await travel(world, owner, '?link=1'), '/console/profile?identity=pending')
  const { body } = await owner.send('GET', '/oauth/pending')
  assert.deepEqual([body.name, body.email], ['Acme ID', 'ada@acme.example'])
  assert.deepEqual((await owner.send('GET', '/identities')).body.data, [])
  const made = await owner.send('POST', '/oauth/pending', { action: 'link' })
  assert.deepEqual([made.status, made.body.object, made.body.name], [201, 'identity', 'Acme ID'])
  assert.equal(code(await owner.send('POST', '/oauth/pending', { action: 'link' })), 'oauth_pending_expired')

  const elsewhere = consoleClient(world)
  assert.equal(
    await travel(world, elsewhere, '?next=%2Fconsole%2Facc_1%2Ftest%2Fmessages%3Fstatus%3Dsent'),
    '/console/acc_1/test/messages?status=sent',
  )
  assert.equal((await elsewhere.send('GET', '/session')).body.user.email, 'owner@example.com')
  const asked = provider.authorizations.at(-1)!
  assert.deepEqual(
    [
      asked.get('code_challenge_method'),
      asked.get('scope'),
      asked.get('state')!.length > 20,
      asked.get('nonce')!.length > 20,
    ],
    ['S256', 'openid email profile', true, true],
  )
})

test('nobody is signed in by e-mail address alone, or redirected to another site', async (t) => {
  const { world, provider } = await openWorld(t)
  const owner = await signedInOwner(world)
  provider.person = { sub: 'stranger', email: 'owner@example.com' }
  const stranger = consoleClient(world)
  assert.equal(await travel(world, stranger), '/console/sign-in?error=invalid_credentials')
  assert.equal(stranger.cookie, undefined)

  provider.person = { sub: 'u1' }
  await linked(world, owner)
  for (const next of [
    'https://evil.example/',
    '//evil.example',
    '/console@evil.example',
    '/console/..%2f..',
    '/\\evil.example',
    '/v1/messages',
    '/console/../../x',
  ])
    assert.match(
      await travel(world, consoleClient(world), `?next=${encodeURIComponent(next)}`),
      /^\/console(\/\.\.%2f\.\.)?$/,
    )
})

test("a wrong state, nonce, audience or signature, or another browser's flow, signs nobody in", async (t) => {
  const { world, provider } = await openWorld(t)
  await linked(world, await signedInOwner(world))
  const client = consoleClient(world)
  const refused = async (between?: (back: string) => string) => {
    assert.equal(await travel(world, client, '', between), '/console/sign-in?error=invalid_credentials')
    assert.equal(client.cookie, undefined)
  }
  await refused((back) => back.replace(/state=[^&]+/, 'state=other'))
  await refused((back) => back.replace(/code=[^&]+/, 'code=other'))
  await refused((back) => back.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fother.example'))
  for (const claims of [{ nonce: 'other' }, { aud: 'other' }, { iss: 'https://other.example' }, { exp: 1 }]) {
    provider.claims = claims
    await refused()
  }
  provider.claims = {}
  const stolen = await travel(world, client, '', async (back) => {
    assert.equal(
      (await open(world, consoleClient(world), new Map(), back)).location,
      '/console/sign-in?error=oauth_pending_expired',
    )
    await world.clock.advance(10 * minute)
    return back
  })
  assert.equal(stolen, '/console/sign-in?error=oauth_pending_expired')
})

test('an identity of another user, or not confirmed within ten minutes, is not linked', async (t) => {
  const { world } = await openWorld(t)
  const owner = await signedInOwner(world)
  await linked(world, owner)
  const invited = await owner.send('POST', '/invitations', { email: 'ada@example.com', role: 'viewer' })
  const ada = consoleClient(world)
  await ada.send('POST', '/invitations/accept', {
    token: invited.body.url.split('#')[1],
    name: 'Ada',
    password: 'seven green bottles',
  })

  await travel(world, ada, '?link=1')
  const taken = await ada.send('POST', '/oauth/pending', { action: 'link' })
  assert.deepEqual([taken.status, code(taken)], [409, 'identity_exists'])
  await travel(world, ada, '?link=1')
  assert.equal((await ada.send('POST', '/oauth/pending', { action: 'cancel' })).status, 200)
  assert.equal(code(await ada.send('POST', '/oauth/pending', { action: 'cancel' })), 'oauth_pending_expired')
  await travel(world, ada, '?link=1')
  await world.clock.advance(10 * minute)
  assert.equal(code(await ada.send('POST', '/oauth/pending', { action: 'link' })), 'oauth_pending_expired')
  await travel(world, ada, '?link=1')
  await world.clock.advance(1)
  assert.equal(code(await ada.send('POST', '/oauth/pending', { action: 'link' })), 'reauthentication_required')
  assert.equal(await travel(world, consoleClient(world), '?link=1'), '/console/sign-in?next=%2Fprofile')
})

test('linking an identity asks for the password, given since the person came back from the provider', async (t) => {
  const { world } = await openWorld(t)
  const owner = await signedInOwner(world)
  await world.clock.advance(minute)
  await travel(world, owner, '?link=1')
  const refused = await owner.send('POST', '/oauth/pending', { action: 'link' })
  assert.deepEqual([refused.status, code(refused)], [403, 'reauthentication_required'])
  assert.equal((await owner.send('POST', '/reauthenticate', { password: ownerPassword })).status, 200)
  assert.equal((await owner.send('POST', '/oauth/pending', { action: 'link' })).status, 201)
  assert.equal((await owner.send('POST', '/reauthenticate', {})).body.error.param, 'password')
})

test('a user with a linked identity may remove the password, but not both', async (t) => {
  const { world, provider } = await openWorld(t)
  const owner = await signedInOwner(world)
  await linked(world, owner)
  assert.equal((await owner.send('DELETE', '/me/password')).status, 200)
  assert.equal(
    code(await owner.send('POST', '/reauthenticate', { password: 'any that there is' })),
    'invalid_credentials',
  )
  const [identity] = (await owner.send('GET', '/identities')).body.data
  assert.equal(code(await owner.send('DELETE', `/identities/${identity.id}`)), 'last_sign_in_method')
  await world.clock.advance(10 * minute + 1)
  assert.equal(code(await owner.send('DELETE', `/identities/${identity.id}`)), 'reauthentication_required')

  // the provider must ask again
  assert.equal(await travel(world, owner, '?next=/console/profile'), '/console/profile')
  assert.equal(provider.authorizations.at(-1)!.get('prompt'), 'login')
  assert.equal((await owner.send('PATCH', '/me', { new_password: 'eight green bottles' })).status, 200)
  assert.equal((await owner.send('DELETE', `/identities/${identity.id}`)).status, 200)
  assert.equal(code(await owner.send('DELETE', `/identities/${identity.id}`)), 'resource_missing')
  assert.equal(await travel(world, consoleClient(world)), '/console/sign-in?error=invalid_credentials')
})

test('an unreachable provider is reported and tried again; without one there is no such sign-in', async (t) => {
  const { world, provider } = await openWorld(t)
  const owner = await signedInOwner(world)
  provider.answerNext('reset')
  assert.equal(await travel(world, owner), '/console/sign-in?error=upstream_unavailable')
  await linked(world, owner)

  const without = await startWorld(t, { seed: 'without' })
  assert.equal(code(await consoleClient(without).send('GET', '/oauth/start')), 'resource_missing')
})
