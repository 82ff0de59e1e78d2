/** `posthorn users …` creates users and restores access by links. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import { consoleClient, ownerPassword, signedInOwner } from '../support/console-api.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { until } from '../support/waiting.ts'
import { startWorld, testSecretKeys, type World } from '../support/world.ts'

const password = 'seven green bottles'

async function run(world: World, ...argv: string[]) {
  let [out, err] = ['', '']
  const env = {
    DATABASE_URL: world.database_url,
    POSTHORN_SECRET_KEY: testSecretKeys.current,
    POSTHORN_DATA_DIR: world.platform.settings.data_dir,
  }
  const exit = await runCli(argv, { env, out: (text) => void (out += text), err: (text) => void (err += text) }, groups)
  return { exit, out, err }
}
const tokenIn = (out: string): string => /\/console\/reset#([\w-]+)/.exec(out)![1]!

test('a created user chooses a password through the link and works in the account', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await signedInOwner(world)
  const made = await run(
    world,
    'users',
    'create',
    '--email',
    'Ada@example.com',
    '--name',
    'Ada',
    '--account',
    account.id,
    '--role',
    'viewer',
    '--json',
  )
  assert.equal(made.exit, 0, made.err)
  const ada = consoleClient(world)
  assert.equal((await ada.send('POST', '/session', { email: 'ada@example.com', password })).status, 401)
  assert.equal(
    (await ada.send('POST', '/password_resets/confirm', { token: tokenIn(JSON.parse(made.out).link), password }))
      .status,
    200,
  )
  const session = await ada.send('POST', '/session', { email: 'ada@example.com', password })
  assert.deepEqual([session.body.user.admin, session.body.accounts[0].role], [false, 'viewer'])
  const [entry] =
    await world.pool`select actor_type, actor_id, action from audit_entries where object_id = ${session.body.user.id} and actor_type = 'command'`
  assert.deepEqual({ ...entry }, { actor_type: 'command', actor_id: 'users create', action: 'members.create' })

  const again = await run(world, 'users', 'create', '--email', 'ada@example.com', '--name', 'Ada')
  assert.deepEqual([again.exit, again.err], [1, 'Another user has this e-mail address. Use another address.\n'])
  assert.equal(
    (await run(world, 'users', 'create', '--email', 'b@example.com', '--name', 'B', '--account', account.id)).exit,
    1,
  )
})

test('links replace a lost password and a lost second factor', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const lost = await run(world, 'users', 'reset-password', '--email', 'nobody@example.com')
  assert.equal(lost.exit, 1)
  assert.match(lost.err, /Nobody has the e-mail address "nobody@example\.com"/)

  const printed = await run(world, 'users', 'reset-password', '--email', 'owner@example.com')
  assert.equal((await owner.send('GET', '/session')).status, 200)
  assert.equal(
    (await owner.send('POST', '/password_resets/confirm', { token: tokenIn(printed.out), password: ownerPassword }))
      .status,
    200,
  )

  await world.pool`update users set second_factor = 'sealed', second_factor_at = now()`
  assert.equal(
    (await owner.send('POST', '/session', { email: 'owner@example.com', password: ownerPassword })).body.error.code,
    'mfa_required',
  )
  assert.equal((await run(world, 'users', 'reset-two-factor', '--email', 'owner@example.com')).exit, 0)
  assert.equal(
    (await owner.send('POST', '/session', { email: 'owner@example.com', password: ownerPassword })).status,
    201,
  )
})

test('two concurrently created links are both valid until one is used', async (t) => {
  const world = await startWorld(t)
  await world.account()
  await signedInOwner(world)
  const { people } = world.services.operators

  const { both } = await holdOpen(world.pool, async (tx) => {
    await tx`select from users for update`
    const both = Promise.all([people.resetPassword('owner@example.com'), people.resetTwoFactor('owner@example.com')])
    await until(
      'both to wait for the user',
      () => lockWaits(world.pool),
      (waiting) => waiting === 2,
    )
    return { both }
  })
  const links = await both

  const answers = []
  for (const { link } of links) {
    const token = link.split('#')[1]
    answers.push(await consoleClient(world).send('POST', '/password_resets/confirm', { token, password }))
  }
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error?.code]),
    [
      [200, undefined],
      [400, 'token_invalid'],
    ],
  )
})

test('a new e-mail address is confirmed by a link that the operator prints, found by either address', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const nobody = await run(world, 'users', 'verify-email', '--email', 'owner@example.com')
  assert.equal(nobody.exit, 1)
  assert.match(nobody.err, /Nobody waits to confirm the e-mail address owner@example\.com/)

  await owner.send('PATCH', '/me', { email: 'olivia@example.com' })
  const printed = await run(world, 'users', 'verify-email', '--email', 'Owner@example.com')
  assert.equal(printed.exit, 0, printed.err)
  assert.match(printed.out, /Only the owner of olivia@example\.com may open this link/)
  const json = JSON.parse((await run(world, 'users', 'verify-email', '--email', 'olivia@example.com', '--json')).out)
  assert.deepEqual([json.email, json.pending_email], ['owner@example.com', 'olivia@example.com'])

  const tokens = [/#([\w-]+)/.exec(printed.out)![1], json.link.split('#')[1]]
  const confirm = async (token: string) => await consoleClient(world).send('POST', '/email_confirmations', { token })
  assert.deepEqual((await confirm(tokens[0])).body, { object: 'email_confirmation', email: 'olivia@example.com' })
  assert.equal((await confirm(tokens[1])).body.error.code, 'token_invalid')
  const { email, pending_email } = (await owner.send('GET', '/me')).body
  assert.deepEqual([email, pending_email], ['olivia@example.com', null])
  const [entry] = await world.pool`select actor_id, changes from audit_entries where actor_type = 'command'`
  assert.deepEqual({ ...entry }, { actor_id: 'users verify-email', changes: { email: 'olivia@example.com' } })
})
