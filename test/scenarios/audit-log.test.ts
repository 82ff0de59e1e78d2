/** The audit log of personal changes and of commands (behaviour: console-records 1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { startWorld, testSecretKeys, type World } from '../support/world.ts'

const email = 'owner@example.com'
const newPassword = 'seven green bottles'

interface Entry {
  readonly actor: { readonly type: string; readonly id: string }
  readonly action: string
  readonly object_id: string | null
  readonly changes: Record<string, unknown>
  readonly request_id: string | null
  readonly address: string | null
  readonly created_at: string
}

/** Oldest first, without the first owner's. */
async function entries(client: ConsoleClient, query = ''): Promise<Entry[]> {
  const answer = await client.send('GET', `/audit_entries?limit=100${query}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data.filter(({ action }: Entry) => action !== 'setup').toReversed()
}

async function another(world: World): Promise<{ client: ConsoleClient; id: string }> {
  const client = consoleClient(world)
  const { body } = await client.send('POST', '/session', { email, password: ownerPassword })
  return { client, id: body.id }
}

test("a personal change is recorded once in each of the person's accounts, without secrets", async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const me = (await client.send('GET', '/me')).body.id
  const other = (await client.send('POST', '/admin/accounts', { name: 'Other' })).body.id
  const ended = [await another(world), await another(world)]
  await world.pool`insert into identities (id, user_id, issuer, subject, created_at) values ('idn_1', ${me}, 'https://id.example.com', 's', now())`

  const answers = [
    await client.send('PATCH', '/me', { name: 'Liv', email: 'liv@example.com' }),
    await client.send('DELETE', `/sessions/${ended[0]!.id}`),
    await client.send('DELETE', '/sessions'),
    await client.send('PATCH', '/me', { current_password: ownerPassword, new_password: newPassword }),
    await client.send('DELETE', '/identities/idn_1'),
  ]
  const { secret } = (await client.send('POST', '/two_factor')).body
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: world.clock.now() })
  answers.push(await client.send('POST', '/two_factor/confirm', { code }), await client.send('DELETE', '/two_factor'))
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
    JSON.stringify(answers.map(({ body }) => body)),
  )
  assert.equal(
    (await client.send('PATCH', '/me', { current_password: 'wrong', new_password: newPassword })).status,
    400,
  )
  assert.equal((await client.send('DELETE', `/sessions/${ended[0]!.id}`)).status, 404)
  assert.equal((await client.send('DELETE', '/identities/idn_1')).status, 404)
  assert.equal((await client.send('POST', '/reauthenticate', { password: newPassword })).status, 200)

  const reported = await entries(client)
  assert.deepEqual(
    reported.map(({ action, object_id, changes }) => [action, object_id, changes]),
    [
      ['me.update', me, { name: 'Liv', email: 'liv@example.com' }],
      ['sessions.delete', ended[0]!.id, {}],
      ['sessions.delete_all', me, {}],
      ['me.update', me, { current_password: '[masked]', new_password: '[masked]' }],
      ['identities.delete', 'idn_1', {}],
      ['two_factor.confirm', me, { code: '[masked]' }],
      ['two_factor.delete', me, {}],
    ],
  )
  assert.deepEqual(
    reported.map(({ request_id }) => request_id),
    answers.map(({ headers }) => headers['x-request-id']),
  )
  for (const { actor, address } of reported) assert.deepEqual([actor, address], [{ type: 'user', id: me }, '127.0.0.1'])
  client.account = other
  const elsewhere = await entries(client, `&actor=${me}`)
  assert.deepEqual(
    elsewhere.map(({ action }) => action),
    ['admin.create_account', ...reported.map(({ action }) => action)],
  )
})

test('a personal change is rolled back if its audit log entry cannot be written', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const me = (await client.send('GET', '/me')).body.id
  const other = await another(world)
  const { secret } = (await client.send('POST', '/two_factor')).body
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: world.clock.now() })
  await world.pool`insert into identities (id, user_id, issuer, subject, created_at) values ('idn_1', ${me}, 'https://id.example.com', 's', now())`
  await world.pool`alter table audit_entries add constraint refused check (action = 'setup') not valid`

  for (const [method, path, body] of [
    ['PATCH', '/me', { name: 'Liv', current_password: ownerPassword, new_password: newPassword }],
    ['DELETE', `/sessions/${other.id}`, undefined],
    ['DELETE', '/sessions', undefined],
    ['DELETE', '/identities/idn_1', undefined],
    ['POST', '/two_factor/confirm', { code }],
    ['DELETE', '/two_factor', undefined],
  ] as const)
    assert.equal((await client.send(method, path, body)).status, 500, path)
  const { body } = await client.send('GET', '/me')
  assert.deepEqual([body.name, body.two_factor], ['Olivia Owner', false])
  assert.equal((await other.client.send('GET', '/session')).status, 200)
  assert.equal((await client.send('GET', '/identities')).body.data.length, 1)
  assert.equal((await consoleClient(world).send('POST', '/session', { email, password: ownerPassword })).status, 201)
})

test("commands that change an account or its people are recorded with the command's words", async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const client = await signedInOwner(world)
  const me = (await client.send('GET', '/me')).body.id
  const run = async (...argv: string[]) => {
    let [out, err] = ['', '']
    const env = {
      DATABASE_URL: world.database_url,
      POSTHORN_SECRET_KEY: testSecretKeys.current,
      POSTHORN_DATA_DIR: world.platform.settings.data_dir,
    }
    const exit = await runCli(
      [...argv, '--json'],
      { env, out: (text) => void (out += text), err: (text) => void (err += text) },
      groups,
    )
    assert.equal(exit, 0, err)
    return JSON.parse(out)
  }
  const of = ['--account', account.id]

  await run('wallet', 'credit', ...of, '--amount-micros', '5000000', '--note', 'Invoice 7')
  const grant = await run('packages', 'grant', ...of, '--credits', '100')
  await run('prices', 'set', ...of, '--channel-type', 'sms', '--amount-micros', '9000')
  await run('prices', 'set', '--channel-type', 'sms', '--amount-micros', '8000')
  const key = await run('keys', 'create', ...of, '--mode', 'test', '--name', 'Shop')
  await run('keys', 'revoke', key.id)
  const { link, ...ada } = await run(
    'users',
    'create',
    '--email',
    'ada@example.com',
    '--name',
    'Ada',
    ...of,
    '--role',
    'viewer',
  )
  const reset = await run('users', 'reset-password', '--email', email)
  await run('users', 'reset-two-factor', '--email', email)
  const made = await run('accounts', 'create', '--name', 'Second')

  const signedIn = (await another(world)).client
  signedIn.account = account.id
  const reported = await entries(signedIn)
  assert.deepEqual(
    reported.map(({ actor, action, object_id }) => [actor.id, action, object_id]),
    [
      ['wallet credit', 'wallet.credit', account.id],
      ['packages grant', 'packages.grant', grant.id],
      ['prices set', 'prices.set', account.id],
      ['keys create', 'api_keys.create', key.id],
      ['keys revoke', 'api_keys.revoke', key.id],
      ['users create', 'members.create', ada.id],
      ['users reset-password', 'password_resets.create', me],
      ['users reset-two-factor', 'two_factor.delete', me],
    ],
  )
  assert.deepEqual(reported[0]!.changes, { amount_micros: 5_000_000, note: 'Invoice 7' })
  assert.deepEqual(reported[2]!.changes, { channel_type: 'sms', amount_micros: 9000 })
  for (const { actor, request_id, address } of reported)
    assert.deepEqual([actor.type, request_id, address], ['command', null, null])
  for (const hidden of [key.key, link.split('#')[1], reset.link.split('#')[1]])
    assert.ok(!JSON.stringify(reported).includes(hidden))
  const [first] =
    await world.pool`select actor_id, action, changes ->> 'name' as name from audit_entries where account_id = ${made.id}`
  assert.deepEqual({ ...first }, { actor_id: 'accounts create', action: 'account.create', name: 'Second' })

  const [, second] = reported
  assert.equal((await entries(signedIn, `&object_id=${grant.id}`)).length, 1)
  assert.equal((await entries(signedIn, '&actor=users%20reset-password')).length, 1)
  assert.ok(
    (await entries(signedIn, `&created_after=${second!.created_at}`)).every(
      ({ created_at }) => created_at > second!.created_at,
    ),
  )
  assert.ok(
    (await entries(signedIn, `&created_before=${second!.created_at}`)).every(
      ({ created_at }) => created_at < second!.created_at,
    ),
  )
})

test('a password set through a link is recorded in each account', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const me = (await client.send('GET', '/me')).body.id
  const { link } = await world.services.operators.people.resetPassword(email)
  const answer = await consoleClient(world).send('POST', '/password_resets/confirm', {
    token: link.split('#')[1],
    password: newPassword,
  })
  assert.equal(answer.status, 200)

  const again = consoleClient(world)
  const { body } = await again.send('POST', '/session', { email, password: newPassword })
  again.account = body.accounts[0].id
  const { actor, action, object_id, changes, address, request_id } = (await entries(again)).at(-1)!
  assert.deepEqual([actor, action, object_id, changes], [{ type: 'user', id: me }, 'password_resets.confirm', me, {}])
  assert.deepEqual([address, request_id], ['127.0.0.1', answer.headers['x-request-id']])
})

test('an accepted batch has one entry however often it is repeated, and a refused one has none', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const message = { channel: 'ch_test_sms', to: '+15005550006', type: 'text', text: { body: 'Hello' } }
  const send = async (messages: readonly object[], key: string) =>
    (await client.send('POST', '/v1/messages/batch', { messages }, { 'idempotency-key': key })).status

  const statuses = [
    await send([message], 'one'),
    await send([message], 'one'),
    await send([{ ...message, channel: 'ch_none' }], 'two'),
  ]
  assert.deepEqual(statuses, [207, 207, 207])
  assert.deepEqual(
    (await entries(client)).map(({ action }) => action),
    ['messages.send_batch'],
  )
})
