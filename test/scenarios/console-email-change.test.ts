/** Nobody becomes somebody else by an e-mail address or a linked identity (behaviour: console 3.14, 3.16). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient, refusal } from '../support/console-api.ts'
import { mailsTo, noMailServer, waitingMails } from '../support/mails.ts'
import { startWorld, type World } from '../support/world.ts'

const newPassword = 'seven green bottles'
const minute = 60_000
const noLink = [400, 'token_invalid']

interface Scene {
  readonly world: World
  readonly owner: ConsoleClient
  /** A viewer of the same account. */
  readonly eve: ConsoleClient
  /** Owner of another account. */
  readonly bea: ConsoleClient
}

async function scene(t: TestContext): Promise<Scene> {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000, ...noMailServer } })
  await world.account()
  const owner = await signedInOwner(world)
  const other = await world.account()
  const user = async (name: string, account_id: string, role: 'viewer' | 'owner') => {
    const email = `${name}@example.com`
    const { link } = await world.services.operators.people.create({
      email,
      name,
      admin: false,
      membership: { account_id: account_id as `acc_${string}`, role },
    })
    const client = consoleClient(world)
    const token = link.split('#')[1]
    await client.send('POST', '/password_resets/confirm', { token, password: ownerPassword })
    await client.send('POST', '/session', { email, password: ownerPassword })
    client.account = account_id
    return client
  }
  return {
    world,
    owner,
    eve: await user('eve', owner.account!, 'viewer'),
    bea: await user('bea', other.id, 'owner'),
  }
}

const latest = async (world: World, recipient: string) => (await mailsTo(world, recipient)).at(-1)!
const confirm = async (world: World, token: string | null) =>
  await consoleClient(world).send('POST', '/email_confirmations', { token })
const signIn = async (world: World, email: string, password = ownerPassword) =>
  await consoleClient(world).send('POST', '/session', { email, password })
const linkIdentity = async (world: World, client: ConsoleClient, subject: string) =>
  await world.pool`
    insert into identities (id, user_id, issuer, subject, created_at)
    values (${world.platform.ids('idn')}, ${(await client.send('GET', '/me')).body.id}, 'https://id.example.com', ${subject}, ${world.clock.iso()})`
const identitiesOf = async (client: ConsoleClient) => (await client.send('GET', '/identities')).body.data.length

test('a new e-mail address counts once its link is opened, and the old one gets an e-mail', async (t) => {
  const { world, eve } = await scene(t)
  const asked = await eve.send('PATCH', '/me', { email: ' Eva@Example.com' })
  assert.deepEqual(
    [asked.status, asked.body.email, asked.body.pending_email],
    [200, 'eve@example.com', 'eva@example.com'],
  )
  assert.equal((await eve.send('GET', '/session')).body.user.pending_email, 'eva@example.com')
  const announced = await latest(world, 'eve@example.com')
  assert.equal(announced.subject, 'Your e-mail address is about to change')
  assert.match(announced.body, /eva@example\.com/)
  assert.equal((await signIn(world, 'eva@example.com')).status, 401)

  const { token, body } = await latest(world, 'eva@example.com')
  assert.ok(!body.includes(token!))
  assert.deepEqual((await confirm(world, token)).body, { object: 'email_confirmation', email: 'eva@example.com' })
  assert.deepEqual(refusal(await confirm(world, token)), noLink)
  assert.equal((await latest(world, 'eve@example.com')).subject, 'Your e-mail address was changed')
  const me = (await eve.send('GET', '/me')).body
  assert.deepEqual([me.email, me.pending_email], ['eva@example.com', null])
  assert.equal((await signIn(world, 'eva@example.com')).status, 201)
  assert.equal((await signIn(world, 'eve@example.com')).status, 401)
})

test('the address of somebody else is answered like any other, and its owner gets no link', async (t) => {
  const { world, eve } = await scene(t)
  const said = async (email: string) => {
    const { status, body } = await eve.send('PATCH', '/me', { email })
    return [status, JSON.stringify(body).replaceAll(email, '<email>')]
  }
  assert.deepEqual(await said('bea@example.com'), await said('nobody@example.com'))
  const mail = await latest(world, 'bea@example.com')
  assert.deepEqual([mail.subject, mail.token], ['Somebody asked to use your e-mail address', null])
  assert.doesNotMatch(mail.body, /eve/)
  await world.pool`delete from limited_actions where kind = 'email_change'`
  for (let n = 0; n < 2; n++) await eve.send('PATCH', '/me', { email: 'bea@example.com' })
  await consoleClient(world).send('POST', '/password_resets', { email: 'bea@example.com' })
  await world.services.operators.resets.flush()
  assert.equal((await latest(world, 'bea@example.com')).subject, 'Choose a new password', 'whatever Eve asked for')
  assert.deepEqual(refusal(await eve.send('PATCH', '/me', { email: 'owner@example.com' })), [409, 'email_taken'])
})

test('a stranger whose address a viewer asked for joins as a new user, whom the identity of the viewer does not sign in', async (t) => {
  const { world, eve, bea } = await scene(t)
  await eve.send('PATCH', '/me', { email: 'stranger@example.com' })
  await linkIdentity(world, eve, 'eve')
  await bea.send('POST', '/invitations', { email: 'stranger@example.com', role: 'owner' })
  const stranger = consoleClient(world)
  const { token } = (await mailsTo(world, 'stranger@example.com')).find(({ subject }) => subject.startsWith('Join'))!
  assert.equal((await stranger.send('POST', '/invitations/preview', { token })).body.has_user, false)
  const joined = await stranger.send('POST', '/invitations/accept', { token, name: 'Sam', password: newPassword })
  assert.equal(joined.status, 201)

  assert.notEqual(joined.body.user.id, (await eve.send('GET', '/me')).body.id)
  assert.equal(await identitiesOf(stranger), 0)
  assert.deepEqual(refusal(await eve.send('GET', '/members', undefined, { 'service-account': bea.account })), [
    403,
    'account_required',
  ])
  const [confirmation] = await mailsTo(world, 'stranger@example.com')
  assert.deepEqual(refusal(await confirm(world, confirmation!.token)), [409, 'email_taken'])
})

test('a new password or second factor ends a request for another address; asking for the present one withdraws it', async (t) => {
  const { world, eve } = await scene(t)
  const { body } = await eve.send('PATCH', '/me', { email: 'a@example.com' })
  assert.equal(body.pending_email, 'a@example.com')
  assert.equal((await eve.send('PATCH', '/me', { email: 'eve@example.com' })).body.pending_email, null)
  assert.deepEqual(refusal(await confirm(world, (await latest(world, 'a@example.com')).token)), noLink)

  await eve.send('PATCH', '/me', { email: 'b@example.com' })
  await eve.send('PATCH', '/me', { current_password: ownerPassword, new_password: newPassword })
  assert.deepEqual(refusal(await confirm(world, (await latest(world, 'b@example.com')).token)), noLink)
  assert.equal((await eve.send('GET', '/me')).body.pending_email, null)

  await eve.send('PATCH', '/me', { email: 'c@example.com' })
  const { link } = await world.services.operators.people.resetPassword('eve@example.com')
  await consoleClient(world).send('POST', '/password_resets/confirm', {
    token: link.split('#')[1],
    password: newPassword,
  })
  assert.deepEqual(refusal(await confirm(world, (await latest(world, 'c@example.com')).token)), noLink)
})

test('a person asks for another address three times an hour, and earlier links for it stay valid for a day', async (t) => {
  const { world, eve } = await scene(t)
  for (let n = 0; n < 3; n++) assert.equal((await eve.send('PATCH', '/me', { email: 'eva@example.com' })).status, 200)
  const refused = await eve.send('PATCH', '/me', { email: 'eva@example.com' })
  assert.deepEqual([...refusal(refused), refused.headers['retry-after']], [429, 'rate_limit_exceeded', '3600'])
  const links = await mailsTo(world, 'eva@example.com')
  assert.equal(links.length, 3)
  await world.clock.advance(24 * 60 * minute - 1)
  assert.equal((await confirm(world, links[0]!.token)).status, 200)
  assert.deepEqual(refusal(await confirm(world, links[2]!.token)), noLink)
})

test('a link to an address expires after a day', async (t) => {
  const { world, eve } = await scene(t)
  await eve.send('PATCH', '/me', { email: 'eva@example.com' })
  await world.clock.advance(24 * 60 * minute)
  assert.deepEqual(refusal(await confirm(world, (await latest(world, 'eva@example.com')).token)), noLink)
  assert.equal((await eve.send('GET', '/session')).status, 401)
})

test('a password that is chosen by a link removes the identities that were linked before', async (t) => {
  const { world, eve } = await scene(t)
  await linkIdentity(world, eve, 'thief')
  assert.equal(await identitiesOf(eve), 1)
  const { link } = await world.services.operators.people.resetPassword('eve@example.com')
  await consoleClient(world).send('POST', '/password_resets/confirm', {
    token: link.split('#')[1],
    password: newPassword,
  })
  const [left] = await world.pool<{ count: number }[]>`select count(*)::int as count from identities`
  assert.equal(left!.count, 0)
})

test('an accepted invitation removes the identities that were linked before, and an e-mail says so', async (t) => {
  const { world, eve, bea } = await scene(t)
  await linkIdentity(world, eve, 'eve')
  await bea.send('POST', '/invitations', { email: 'eve@example.com', role: 'viewer' })
  const { token } = await latest(world, 'eve@example.com')
  assert.equal((await eve.send('POST', '/invitations/accept', { token })).status, 201)
  assert.equal(await identitiesOf(eve), 0)
  assert.equal((await latest(world, 'eve@example.com')).subject, 'Link your identity again')
})

test('the identity of a person without a password survives an accepted invitation', async (t) => {
  const { world, eve, bea } = await scene(t)
  await linkIdentity(world, eve, 'eve')
  await world.pool`update users set password_hash = null where email = 'eve@example.com'`
  await bea.send('POST', '/invitations', { email: 'eve@example.com', role: 'viewer' })
  const { token } = await latest(world, 'eve@example.com')
  assert.equal((await eve.send('POST', '/invitations/accept', { token })).status, 201)
  assert.equal(await identitiesOf(eve), 1)
})

test('neither stored e-mails nor links in the database contain a token', async (t) => {
  const { world, eve } = await scene(t)
  await eve.send('PATCH', '/me', { email: 'eva@example.com' })
  const { token } = await latest(world, 'eva@example.com')
  const stored = JSON.stringify([
    await waitingMails(world).then((all) => all.map(({ body }) => body)),
    await world.pool`select * from user_tokens`,
    await world.pool`select * from email_queue`,
  ])
  assert.ok(!stored.includes(token!))
})
