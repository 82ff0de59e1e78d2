/** Invitations cannot be used to spam, to spy, or to undo those of somebody above (behaviour: console 3.13). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient, refusal } from '../support/console-api.ts'
import { mailsTo, noMailServer, waitingMails } from '../support/mails.ts'
import { mailServer } from '../support/mail-server.ts'
import { startWorld, type World } from '../support/world.ts'

const day = 24 * 3600_000
const limited = [429, 'rate_limit_exceeded']

const invite = async (client: ConsoleClient, email: string, role = 'viewer') =>
  await client.send('POST', '/invitations', { email, role })

async function reauthenticate(client: ConsoleClient): Promise<void> {
  assert.equal((await client.send('POST', '/reauthenticate', { password: ownerPassword })).status, 200)
}

async function joined(world: World, owner: ConsoleClient, role: string): Promise<ConsoleClient> {
  const { url } = (await invite(owner, `${role}@example.com`, role)).body
  const client = consoleClient(world)
  const accepted = await client.send('POST', '/invitations/accept', {
    token: url.split('#')[1],
    name: role,
    password: ownerPassword,
  })
  assert.equal(accepted.status, 201, JSON.stringify(accepted.body))
  client.account = owner.account
  client.mode = owner.mode
  return client
}

test('an account invites 20 times in 24 hours, or as often as the setting says', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  for (let n = 0; n < 20; n++) assert.equal((await invite(owner, `p${n}@example.com`)).status, 201)
  const refused = await invite(owner, 'p20@example.com')
  assert.deepEqual([...refusal(refused), refused.headers['retry-after']], [...limited, '86400'])
  const other = (await owner.send('POST', '/admin/accounts', { name: 'Second' })).body.id
  const elsewhere = await owner.send(
    'POST',
    '/invitations',
    { email: 'p20@example.com', role: 'viewer' },
    { 'service-account': other },
  )
  assert.equal(elsewhere.status, 201)
  await world.clock.advance(12 * 3600_000 - 1)
  await owner.send('GET', '/session')
  await world.clock.advance(12 * 3600_000 - 1)
  await reauthenticate(owner)
  assert.deepEqual(refusal(await invite(owner, 'p20@example.com')), limited)
  await world.clock.advance(2)
  assert.equal((await invite(owner, 'p20@example.com')).status, 201)

  const strict = await startWorld(t, { seed: 'strict', settings: { invitations_per_day: 1 } })
  await strict.account()
  const careful = await signedInOwner(strict)
  assert.equal((await invite(careful, 'a@example.com')).status, 201)
  assert.deepEqual(refusal(await invite(careful, 'b@example.com')), limited)
})

test('an account invites one address three times in 24 hours, also after withdrawing', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  for (let n = 0; n < 3; n++) {
    const { status, body } = await invite(owner, 'Ada@example.com')
    assert.equal(status, 201)
    await owner.send('DELETE', `/invitations/${body.id}`)
  }
  assert.deepEqual(refusal(await invite(owner, 'ada@example.com')), limited)
  assert.equal((await invite(owner, 'bea@example.com')).status, 201)
  assert.equal((await owner.send('GET', '/invitations')).body.data.length, 1)
  for (const ms of [day / 2 - 1, day / 2 - 1, 2]) {
    await world.clock.advance(ms)
    await owner.send('GET', '/session')
  }
  await reauthenticate(owner)
  assert.equal((await invite(owner, 'ada@example.com')).status, 201)
})

test('a member who may not withdraw an invitation may not replace it', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const owner = await signedInOwner(world)
  const admin = await joined(world, owner, 'admin')
  const { url, id } = (await invite(owner, 'ada@example.com', 'owner')).body
  assert.deepEqual(refusal(await invite(admin, 'ada@example.com', 'viewer')), [403, 'role_not_allowed'])
  assert.deepEqual(refusal(await admin.send('DELETE', `/invitations/${id}`)), [403, 'role_not_allowed'])
  const preview = await consoleClient(world).send('POST', '/invitations/preview', { token: url.split('#')[1] })
  assert.equal(preview.body.role, 'owner')
  assert.equal((await invite(admin, 'bea@example.com', 'viewer')).status, 201)
  assert.equal((await invite(owner, 'bea@example.com', 'owner')).status, 201)
})

test('a link that was shown to the inviter does not reveal whether a stranger has a user', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const owner = await signedInOwner(world)
  const second = (await owner.send('POST', '/admin/accounts', { name: 'Second' })).body.id
  const ada = await joined(world, owner, 'viewer')
  const preview = async (client: ConsoleClient, email: string) => {
    const { url } = (await owner.send('POST', '/invitations', { email, role: 'viewer' }, { 'service-account': second }))
      .body
    return (await client.send('POST', '/invitations/preview', { token: url.split('#')[1] })).body.has_user
  }
  assert.equal(await preview(consoleClient(world), 'viewer@example.com'), false)
  assert.equal(await preview(consoleClient(world), 'nobody@example.com'), false)
  assert.equal(await preview(ada, 'viewer@example.com'), true, 'to oneself')
})

test('the preview of a mailed link says whether its person has a user', async (t) => {
  const world = await startWorld(t, { settings: noMailServer })
  await world.account()
  const owner = await signedInOwner(world)
  const second = (await owner.send('POST', '/admin/accounts', { name: 'Second' })).body.id
  await world.services.operators.people.create({
    email: 'ada@example.com',
    name: 'Ada',
    admin: false,
    membership: null,
  })
  for (const [email, has_user] of [
    ['ada@example.com', true],
    ['nobody@example.com', false],
  ] as const) {
    await owner.send('POST', '/invitations', { email, role: 'viewer' }, { 'service-account': second })
    const { token } = (await mailsTo(world, email)).at(-1)!
    const { body } = await consoleClient(world).send('POST', '/invitations/preview', { token })
    assert.equal(body.has_user, has_user, email)
  }
})

test('a role is checked before the shape of the body, also where it depends on the body', async (t) => {
  const world = await startWorld(t, { settings: { rate_limit_sign_in: 1000 } })
  await world.account()
  const owner = await signedInOwner(world)
  const [admin, developer] = [await joined(world, owner, 'admin'), await joined(world, owner, 'developer')]
  const notAllowed = [403, 'role_not_allowed']
  for (const [mode, body] of [
    ['live', {}],
    ['live', { name: 5 }],
    ['live', { mode: 'prod' }],
    ['live', '{bad'],
    ['live', { name: 'a\0b' }],
    ['test', { mode: 'live', name: 5 }],
    ['test', { mode: 'live', scopes: 'all' }],
  ] as const) {
    developer.mode = mode
    const type = { 'content-type': 'application/json; charset=utf-8' }
    const answer = await developer.send('POST', '/api_keys', body, typeof body === 'string' ? type : {})
    assert.deepEqual(refusal(answer), notAllowed, JSON.stringify([mode, body]))
  }
  developer.mode = 'test'
  assert.deepEqual(refusal(await developer.send('POST', '/api_keys', {})), [400, 'parameter_missing'])
  developer.mode = 'live'
  assert.equal((await developer.send('POST', '/api_keys', { mode: 'test' })).status, 201)
  assert.deepEqual(refusal(await admin.send('POST', '/invitations', { role: 'owner' })), notAllowed)
  assert.deepEqual(refusal(await admin.send('POST', '/invitations', { role: 'captain' })), [400, 'parameter_invalid'])
})

test('names of people and accounts that mails show have no line breaks, links or more than 120 characters', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  for (const name of [
    'Win\r\nBcc: all@example.com',
    'Ada\u2028Lovelace',
    'See https://evil.example/x',
    'www.evil.example',
    'Prize at evil.com',
    'EVIL.COM',
    'Evil.Com',
    'mailto:eve',
    'eve@example.com',
    'a'.repeat(121),
    'bell\u0007',
  ])
    for (const path of ['/me', '/account']) {
      const refused = await owner.send('PATCH', path, { name })
      assert.deepEqual([...refusal(refused), refused.body.error?.param], [400, 'parameter_invalid', 'name'], name)
    }
  for (const name of ["Ada O'Brien-Lovelace, Ph.D.", 'J.R.R. Tolkien', 'St.John', 'Łukasz 李', 'a'.repeat(120)])
    for (const path of ['/me', '/account']) assert.equal((await owner.send('PATCH', path, { name })).status, 200, name)

  // a name from before this rule may stay
  await world.pool`update accounts set name = 'Booking.com'`
  assert.equal((await owner.send('PATCH', '/account', { name: 'Booking.com', timezone: 'UTC' })).status, 200)
})

test('an address that a mail program would read as several is refused wherever mail could go', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const owner = await signedInOwner(world)
  const { accounts, operators } = world.services
  for (const email of [
    'eve,ada@example.com',
    'eve@example.com,ada@example.com',
    'eve;ada@example.com',
    'group:ada@example.com;',
    'Ada <ada@example.com>',
    '"ada"@example.com',
    'ada(x)@example.com',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@localhost',
  ]) {
    assert.deepEqual(refusal(await invite(owner, email)), [400, 'parameter_invalid'], email)
    assert.deepEqual(refusal(await owner.send('PATCH', '/me', { email })), [400, 'parameter_invalid'], email)
    await assert.rejects(operators.people.create({ email, name: 'A', admin: false, membership: null }), {
      code: 'parameter_invalid',
    })
    await assert.rejects(accounts.update(account.id, { owner_email: email }), { code: 'parameter_invalid' })
  }
})

test('a mail goes to its one recipient, and texts of people cannot change its lines', async (t) => {
  const server = await mailServer(t)
  const world = await startWorld(t, { settings: { smtp_url: server.url } })
  await world.account()
  const owner = await signedInOwner(world)
  // as they could be stored before names were checked
  await world.pool`update users set name = ${'Eve\n\n{link}\n\nand'}`
  await world.pool`update accounts set name = ${'Prize\r\nBcc: all@example.com'}`
  await invite(owner, 'ada@example.com')
  await world.pool`
    insert into emails (recipient, subject, body, created_at) values ('eve@example.com, ada@example.com', 'S', 'B', ${world.clock.iso()})`
  await world.pool`
    insert into email_queue (email_id, next_run_at, expires_at)
    select max(id), ${world.clock.iso()}::timestamptz, ${world.clock.iso(day)}::timestamptz from emails`

  await world.tick('mail')

  assert.equal(server.mails.length, 1)
  const [mail] = server.mails
  assert.match(mail!, /^To: ada@example\.com\r?$/m)
  assert.doesNotMatch(mail!, /^Bcc:/im)
  assert.equal(mail!.match(/\/console\/invitation#/g)?.length, 1)
  assert.deepEqual(await waitingMails(world), [])
  const [bad] = await world.pool`select error from emails where recipient like 'eve%'`
  assert.match(bad!['error'] as string, /not an e-mail address/)
})
