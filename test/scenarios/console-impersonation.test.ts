/** Platform administrators and acting for an account. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { startWorld, type World } from '../support/world.ts'

const code = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const minute = 60_000
const fast = { settings: { rate_limit_sign_in: 1000, rate_limit_console: 1000 } }

async function openPlatform(world: World) {
  await world.account({ name: 'Ours' })
  const admin = await signedInOwner(world)
  const made = await admin.send('POST', '/admin/accounts', { name: 'Theirs' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const account: string = made.body.id
  const invited = await admin.send(
    'POST',
    '/invitations',
    { email: 'tess@example.com', role: 'owner' },
    { 'service-account': account },
  )
  const tess = consoleClient(world)
  const joined = await tess.send('POST', '/invitations/accept', {
    token: invited.body.url.split('#')[1],
    name: 'Tess',
    password: 'seven green bottles',
  })
  tess.account = account
  tess.mode = 'test'
  await tess.send('DELETE', `/members/${(await admin.send('GET', '/me')).body.id}`)
  return { admin, account, tess, tess_id: joined.body.user.id as string }
}

const begin = async (admin: ConsoleClient, account: string) =>
  await admin.send('POST', '/admin/impersonations', { account, reason: 'Ticket 4711' })

const csv = { accept: 'text/csv' }

/** Operations that write a file of persons if they are asked for CSV. */
function csvRoutes({ app }: World): { method: string; path: string }[] {
  const routes = app.routes.filter((route) => route.csv !== undefined)
  assert.deepEqual(
    routes.map(({ operation }) => operation),
    ['campaigns.list_recipients', 'campaigns.rehearse'],
  )
  return routes.map(({ method, path }) => ({ method, path: path.replace('{id}', 'cmp_none') }))
}

test('only platform administrators see accounts, users and e-mails', async (t) => {
  const world = await startWorld(t, fast)
  const { admin, account, tess } = await openPlatform(world)
  for (const path of ['accounts', 'users', 'emails'])
    assert.equal(code(await tess.send('GET', `/admin/${path}`)), 'admin_required')
  assert.equal(code(await tess.send('POST', '/admin/accounts', { name: 'Mine' })), 'admin_required')
  assert.equal(code(await begin(tess, account)), 'admin_required')

  const accounts = (await admin.send('GET', '/admin/accounts?limit=1')).body
  assert.deepEqual([accounts.data[0].name, accounts.has_more], ['Theirs', true])
  assert.equal(
    (await admin.send('GET', `/admin/accounts?starting_after=${accounts.next_cursor}`)).body.data[0].name,
    'Ours',
  )
  const [user] = (await admin.send('GET', '/admin/users')).body.data
  assert.deepEqual(
    [user.name, user.accounts, user.two_factor],
    ['Tess', [{ id: account, name: 'Theirs', role: 'owner' }], false],
  )
  await admin.send('POST', '/password_resets', { email: 'tess@example.com' })
  await world.services.operators.resets.flush()
  const [email] = (await admin.send('GET', '/admin/emails')).body.data
  assert.deepEqual(
    [email.recipient, email.subject, email.status, 'body' in email],
    ['tess@example.com', 'Choose a new password', 'kept', false],
  )
  assert.deepEqual((await admin.send('GET', `/admin/emails?starting_after=${email.id}`)).body.data, [])
  for (const path of ['accounts', 'users', 'emails'])
    assert.equal(code(await admin.send('GET', `/admin/${path}?starting_after=x`)), 'parameter_invalid')
})

test('acting for an account allows reading and little else, and is in both audit logs', async (t) => {
  const world = await startWorld(t, fast)
  const { admin, account, tess, tess_id } = await openPlatform(world)
  const endpoint = await tess.send('POST', '/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] })
  const home = admin.account
  const me = (await admin.send('GET', '/me')).body.id

  assert.equal(
    (await admin.send('POST', '/admin/impersonations', { account, reason: '  ' })).body.error.param,
    'reason',
  )
  assert.equal((await begin(admin, 'acc_other')).body.error.param, 'account')
  const begun = await begin(admin, account)
  assert.equal(begun.status, 201)
  assert.deepEqual(
    [begun.body.user.id, begun.body.accounts, begun.body.impersonating.reason],
    [me, [{ id: account, name: 'Theirs', role: 'owner' }], 'Ticket 4711'],
  )
  assert.equal(code(await admin.send('GET', '/v1/messages')), 'account_required')
  admin.account = account

  assert.equal((await admin.send('GET', '/v1/messages')).status, 200)
  assert.equal((await admin.send('GET', '/members')).status, 200)
  assert.equal((await admin.send('POST', `/v1/webhook_endpoints/${endpoint.body.id}/test`)).status, 200)
  for (const [method, path, body] of [
    ['GET', '/v1/contacts/export', undefined],
    ['POST', '/v1/messages', { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } }],
    ['POST', '/v1/contacts', { phone: '+15005550006' }],
    ['PATCH', `/v1/webhook_endpoints/${endpoint.body.id}`, { status: 'disabled' }],
    ['DELETE', `/members/${tess_id}`, undefined],
    ['POST', '/invitations', { email: 'x@example.com', role: 'owner' }],
    ['PATCH', '/me', { name: 'Somebody' }],
    ['POST', '/two_factor', undefined],
    ['POST', '/admin/accounts', { name: 'Another' }],
    ['POST', '/admin/impersonations', { account: home, reason: 'Ticket 4712' }],
  ] as const)
    assert.equal(code(await admin.send(method, path, body)), 'impersonation_restricted', `${method} ${path}`)

  for (const { method, path } of csvRoutes(world)) {
    assert.equal(code(await admin.send(method, path, undefined, csv)), 'impersonation_restricted', `${method} ${path}`)
    assert.equal(code(await admin.send(method, path)), 'resource_missing', `${method} ${path}`)
  }

  const ended = await admin.send('DELETE', '/admin/impersonations')
  assert.deepEqual([ended.status, ended.body.impersonating, ended.body.accounts[0].id], [200, null, home])
  assert.equal(code(await admin.send('GET', '/v1/messages')), 'account_required')
  const entries = await world.pool`
    select action, actor_id, impersonator_id from audit_entries where account_id = ${account} and impersonator_id is not null order by id`
  for (const entry of entries) assert.deepEqual([entry['actor_id'], entry['impersonator_id']], [tess_id, me])
  assert.deepEqual(
    [entries[0]!['action'], entries.at(-1)!['action']],
    ['impersonations.create', 'impersonations.delete'],
  )
})

test('acting for an account needs a recent password, and ends after half an hour', async (t) => {
  const world = await startWorld(t, fast)
  const { admin, account } = await openPlatform(world)
  await world.clock.advance(10 * minute + 1)
  assert.equal(code(await begin(admin, account)), 'reauthentication_required')
  await admin.send('POST', '/reauthenticate', { password: ownerPassword })
  await begin(admin, account)
  await world.clock.advance(30 * minute - 1)
  assert.equal((await admin.send('GET', '/session')).body.impersonating.account_id, account)
  await world.clock.advance(1)
  assert.equal((await admin.send('GET', '/session')).body.impersonating, null)
})

test('changing credentials, rolling keys and exporting need a recent password; renaming a channel does not', async (t) => {
  const world = await startWorld(t, fast)
  await world.account()
  const owner = await signedInOwner(world)
  owner.mode = 'live'
  const endpoint = (await owner.send('POST', '/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] }))
    .body
  const asked = async (method: string, path: string, body?: object) => code(await owner.send(method, path, body))
  const guarded = [
    ['POST', '/v1/channels', { provider: 'twilio', name: 'N' }],
    ['PATCH', '/v1/channels/ch_1', { credentials: { auth_token: 'x' } }],
    ['POST', `/v1/webhook_endpoints/${endpoint.id}/roll_secret`, {}],
    ['POST', '/v1/integration_sources/src_1/roll_key', {}],
    ['GET', '/v1/contacts/export', undefined],
  ] as const

  for (const [method, path, body] of guarded)
    assert.notEqual(await asked(method, path, body), 'reauthentication_required', path)
  for (const { method, path } of csvRoutes(world))
    assert.equal(code(await owner.send(method, path, undefined, csv)), 'resource_missing', path)
  await world.clock.advance(10 * minute + 1)
  for (const { method, path } of csvRoutes(world)) {
    assert.equal(code(await owner.send(method, path, undefined, csv)), 'reauthentication_required', path)
    assert.equal(code(await owner.send(method, path)), 'resource_missing', path)
  }
  for (const [method, path, body] of guarded)
    assert.equal(await asked(method, path, body), 'reauthentication_required', path)
  assert.equal(await asked('PATCH', '/v1/channels/ch_1', { name: 'Other' }), 'resource_missing')
})
