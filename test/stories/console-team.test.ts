/** Members, invitations, and a new password by a link. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient } from '../kit/console-api.ts'
import { mailServer, type MailServer } from '../kit/mail-server.ts'
import { until } from '../kit/waiting.ts'
import { startWorld, type World } from '../kit/world.ts'

const code = (answer: { body: { error?: { code: string } } }) => answer.body.error?.code
const minute = 60_000
const password = 'seven green bottles'

const tokenOf = (url: string): string => url.slice(url.indexOf('#') + 1)

async function sent(world: World, server: MailServer, count: number): Promise<string> {
  await until(
    'e-mails to arrive',
    async () => {
      await world.chores()
      return server.mails.length
    },
    (arrived) => arrived >= count,
  )
  return server.mails[count - 1]!
}
const linkIn = (mail: string): string => /http\S+#[\w-]+/.exec(mail)![0]

/** Somebody new in the owner's account. */
async function joined(world: World, owner: ConsoleClient, email: string, role: string): Promise<ConsoleClient & { readonly id: string }> {
  const invited = await owner.send('POST', '/invitations', { email, role })
  assert.equal(invited.status, 201, JSON.stringify(invited.body))
  const client = consoleClient(world)
  const accepted = await client.send('POST', '/invitations/accept', { token: tokenOf(invited.body.url), name: email.split('@')[0], password })
  assert.equal(accepted.status, 201, JSON.stringify(accepted.body))
  client.account = owner.account
  client.mode = 'test'
  return Object.assign(client, { id: accepted.body.user.id as string })
}

const fast = { settings: { rate_limit_sign_in: 1000, rate_limit_console: 1000 } }

test('an invitation without a mail server answers its link once; who is new joins with a name and a password', async (t) => {
  const world = await startWorld(t, fast)
  await world.account({ name: 'Acme' })
  const owner = await signedInOwner(world)

  const invited = await owner.send('POST', '/invitations', { email: ' Ada@Example.com', role: 'marketer' })
  assert.deepEqual([invited.status, invited.body.email, invited.body.mail], [201, 'ada@example.com', null])
  assert.match(invited.body.url, /\/console\/invitation#[\w-]{43}$/)
  const [listed] = (await owner.send('GET', '/invitations')).body.data
  assert.deepEqual([listed.id, listed.url, listed.role], [invited.body.id, null, 'marketer'])

  const again = await owner.send('POST', '/invitations', { email: 'ada@example.com', role: 'developer' })
  assert.equal((await owner.send('GET', '/invitations')).body.data.length, 1)
  const ada = consoleClient(world)
  const token = tokenOf(again.body.url)
  assert.equal(code(await ada.send('POST', '/invitations/preview', { token: tokenOf(invited.body.url) })), 'token_invalid')
  const preview = await ada.send('POST', '/invitations/preview', { token })
  assert.deepEqual(preview.body, { object: 'invitation_preview', account_name: 'Acme', email: 'ada@example.com', role: 'developer', has_user: false })
  assert.equal((await ada.send('POST', '/invitations/accept', { token })).body.error.param, 'name')
  assert.equal((await ada.send('POST', '/invitations/accept', { token, name: 'Ada', password: 'short' })).body.error.param, 'password')
  const both = await Promise.all(
    [ada, consoleClient(world)].map(async (client) => await client.send('POST', '/invitations/accept', { token, name: 'Ada', password })),
  )
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 400],
  )

  const members = (await owner.send('GET', '/members')).body.data
  assert.deepEqual(
    members.map(({ name, role }: { name: string; role: string }) => [name, role]),
    [
      ['Olivia Owner', 'owner'],
      ['Ada', 'developer'],
    ],
  )
  assert.deepEqual((await owner.send('GET', '/invitations')).body.data, [])
  assert.equal(code(await owner.send('POST', '/invitations', { email: 'ada@example.com', role: 'viewer' })), 'member_exists')
  const [entry] = await world.pool`select actor_id, changes from audit_entries where action = 'invitations.accept'`
  assert.deepEqual([entry!['actor_id'], entry!['changes']], [members[1].id, { role: 'developer' }])
})

test('a link signs nobody in whose e-mail address is known', async (t) => {
  const world = await startWorld(t, fast)
  await world.account()
  const owner = await signedInOwner(world)
  const ada = await joined(world, owner, 'ada@example.com', 'admin')
  await owner.send('DELETE', `/members/${ada.id}`)
  const invite = async () => tokenOf((await owner.send('POST', '/invitations', { email: 'ada@example.com', role: 'viewer' })).body.url)
  const stranger = consoleClient(world)

  const token = await invite()
  assert.equal((await stranger.send('POST', '/invitations/preview', { token })).body.has_user, true)
  const bare = await stranger.send('POST', '/invitations/accept', { token, name: 'Mallory' })
  assert.deepEqual([bare.status, code(bare)], [401, 'session_required'])
  assert.equal(code(await stranger.send('POST', '/invitations/accept', { token, name: 'Mallory', password: 'another long one' })), 'invalid_credentials')
  assert.equal(code(await owner.send('POST', '/invitations/accept', { token })), 'session_required')
  const accepted = await ada.send('POST', '/invitations/accept', { token })
  assert.deepEqual([accepted.status, accepted.body.accounts[0].role, accepted.headers['set-cookie']], [201, 'viewer', undefined])

  await owner.send('DELETE', `/members/${ada.id}`)
  const other = await invite()
  assert.equal((await stranger.send('POST', '/invitations/accept', { token: other, password })).body.user.id, ada.id)
  await world.pool`insert into invitations select account_id, 'inv_1', 'ada@example.com', 'viewer', encode(sha256('late'), 'hex'), user_id, null, '2100-01-01', '2026-01-01' from memberships where role = 'owner'`
  assert.equal(code(await ada.send('POST', '/invitations/accept', { token: 'late' })), 'member_exists')
})

test('an invitation ends after seven days, when it is withdrawn, and with its sender', async (t) => {
  const world = await startWorld(t, fast)
  await world.account()
  const owner = await signedInOwner(world)
  const admin = await joined(world, owner, 'admin@example.com', 'admin')
  const accept = async (url: string) => code(await consoleClient(world).send('POST', '/invitations/accept', { token: tokenOf(url), name: 'N', password }))
  const invite = async (client: ConsoleClient, email: string) => (await client.send('POST', '/invitations', { email, role: 'viewer' })).body

  const withdrawn = await invite(owner, 'a@example.com')
  const orphaned = await invite(admin, 'b@example.com')
  const late = await invite(owner, 'c@example.com')
  assert.equal((await owner.send('DELETE', `/invitations/${withdrawn.id}`)).status, 200)
  assert.equal(code(await owner.send('DELETE', `/invitations/${withdrawn.id}`)), 'resource_missing')
  await owner.send('DELETE', `/members/${admin.id}`)
  assert.equal(await accept(withdrawn.url), 'token_invalid')
  assert.equal(await accept(orphaned.url), 'token_invalid')
  await world.clock.advance(7 * 24 * 60 * minute)
  assert.equal(await accept(late.url), 'token_invalid')
})

test('nobody grants above themselves, changes their own role or removes the last owner', async (t) => {
  const world = await startWorld(t, fast)
  await world.account()
  const owner = await signedInOwner(world)
  const me = (await owner.send('GET', '/me')).body.id
  const admin = await joined(world, owner, 'admin@example.com', 'admin')
  const agent = await joined(world, owner, 'agent@example.com', 'agent')
  const refused = async (client: ConsoleClient, method: string, path: string, body?: object) =>
    assert.equal(code(await client.send(method, path, body)), 'role_not_allowed')

  await refused(owner, 'PATCH', `/members/${me}`, { role: 'admin' })
  await refused(owner, 'DELETE', `/members/${me}`)
  await refused(admin, 'PATCH', `/members/${admin.id}`, { role: 'viewer' })
  await refused(admin, 'PATCH', `/members/${agent.id}`, { role: 'owner' })
  await refused(admin, 'PATCH', `/members/${me}`, { role: 'viewer' })
  await refused(admin, 'DELETE', `/members/${me}`)
  await refused(admin, 'POST', '/invitations', { email: 'x@example.com', role: 'owner' })
  await refused(agent, 'GET', '/members')
  await refused(agent, 'POST', '/invitations', { email: 'x@example.com', role: 'viewer' })
  assert.equal(code(await owner.send('PATCH', '/members/usr_other', { role: 'admin' })), 'resource_missing')

  assert.equal((await admin.send('PATCH', `/members/${agent.id}`, { role: 'finance' })).body.role, 'finance')
  assert.equal((await owner.send('PATCH', `/members/${admin.id}`, { role: 'owner' })).body.role, 'owner')
  const both = await Promise.all([owner.send('DELETE', `/members/${me}`), admin.send('DELETE', `/members/${admin.id}`)])
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 403],
  )
})

test('members and invitations take a password given lately, and who is removed has lost the account at once', async (t) => {
  const world = await startWorld(t, fast)
  await world.account()
  const owner = await signedInOwner(world)
  const ada = await joined(world, owner, 'ada@example.com', 'developer')
  assert.equal((await ada.send('GET', '/v1/messages')).status, 200)
  await world.clock.advance(10 * minute + 1)
  for (const [method, path, body] of [
    ['PATCH', `/members/${ada.id}`, { role: 'viewer' }],
    ['DELETE', `/members/${ada.id}`, undefined],
    ['POST', '/invitations', { email: 'x@example.com', role: 'viewer' }],
    ['DELETE', '/invitations/inv_1', undefined],
  ] as const)
    assert.equal(code(await owner.send(method, path, body)), 'reauthentication_required')
  await owner.send('POST', '/reauthenticate', { password: ownerPassword })
  assert.equal((await owner.send('DELETE', `/members/${ada.id}`)).status, 200)
  assert.equal(code(await ada.send('GET', '/v1/messages')), 'account_required')
  assert.deepEqual((await ada.send('GET', '/session')).body.accounts, [])
})

test('an invitation is mailed, and one that could not be sent says so until it is', async (t) => {
  const server = await mailServer(t, 1)
  const world = await startWorld(t, { settings: { ...fast.settings, smtp_url: server.url } })
  await world.account()
  const owner = await signedInOwner(world)
  const invited = await owner.send('POST', '/invitations', { email: 'ada@example.com', role: 'viewer' })
  assert.deepEqual([invited.body.url, invited.body.mail], [null, { status: 'waiting', error: null }])

  await world.chores()
  const [failed] = (await owner.send('GET', '/invitations')).body.data
  assert.equal(failed.mail.status, 'not_sent')
  assert.match(failed.mail.error, /451/)
  await world.clock.advance(minute)
  const mail = await sent(world, server, 1)
  assert.equal((await owner.send('GET', '/invitations')).body.data[0].mail.status, 'sent')
  assert.match(mail, /To: ada@example\.com/)
  assert.ok(!JSON.stringify(await world.pool`select * from emails`).includes(tokenOf(linkIn(mail))))
  const accepted = await consoleClient(world).send('POST', '/invitations/accept', { token: tokenOf(linkIn(mail)), name: 'Ada', password })
  assert.equal(accepted.status, 201)
})

test('a link chooses a new password once, within the hour, ends the sessions and opens what was locked', async (t) => {
  const server = await mailServer(t)
  const world = await startWorld(t, { settings: { ...fast.settings, smtp_url: server.url } })
  await world.account()
  const owner = await signedInOwner(world)
  const client = consoleClient(world)
  const ask = async (email: string) => await client.send('POST', '/password_resets', { email })
  const confirm = async (token: string, chosen = password) => await client.send('POST', '/password_resets/confirm', { token, password: chosen })
  const signIn = async (given: string) => await client.send('POST', '/session', { email: 'owner@example.com', password: given })

  const [known, unknown] = [await ask(' OWNER@example.com'), await ask('nobody@example.com')]
  assert.deepEqual([known.status, known.body], [202, { object: 'password_reset' }])
  assert.deepEqual([unknown.status, unknown.body], [202, known.body])
  const first = tokenOf(linkIn(await sent(world, server, 1)))
  await ask('owner@example.com')
  const second = tokenOf(linkIn(await sent(world, server, 2)))
  assert.equal(code(await confirm(first)), 'token_invalid')

  for (let n = 0; n < 5; n++) await signIn('wrong')
  assert.equal(code(await signIn(ownerPassword)), 'account_locked')
  assert.equal((await confirm(second, 'short')).body.error.param, 'password')
  assert.equal((await confirm(second)).status, 200)
  assert.equal(code(await confirm(second)), 'token_invalid')
  assert.equal(code(await owner.send('GET', '/session')), 'session_required')
  assert.equal(code(await signIn(ownerPassword)), 'invalid_credentials')
  assert.equal((await signIn(password)).status, 201)

  await ask('owner@example.com')
  const late = tokenOf(linkIn(await sent(world, server, 3)))
  await world.clock.advance(60 * minute)
  assert.equal(code(await confirm(late)), 'token_invalid')
  assert.equal(server.mails.length, 3)
  assert.ok(!JSON.stringify(await world.pool`select * from emails`).includes(late))
})
