/** E-mail addresses and memberships that exist already (behaviour: console 3). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleClient, ownerPassword, signedInOwner, type ConsoleClient, refusal } from '../support/console-api.ts'
import { startWorld, type World } from '../support/world.ts'

async function join(world: World, owner: ConsoleClient, email: string): Promise<ConsoleClient> {
  const invited = await owner.send('POST', '/invitations', { email, role: 'viewer' })
  const client = consoleClient(world)
  const token = invited.body.url.split('#')[1]
  const accepted = await client.send('POST', '/invitations/accept', {
    token,
    name: 'Somebody',
    password: ownerPassword,
  })
  assert.equal(accepted.status, 201, JSON.stringify(accepted.body))
  return client
}

async function confirm(world: World, email: string) {
  const { link } = await world.services.operators.people.verifyEmail(email)
  return await consoleClient(world).send('POST', '/email_confirmations', { token: link.split('#')[1] })
}

test('an e-mail address belongs to one user in any spelling, also if two confirm it at once', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const [ada, bea] = [await join(world, owner, 'ada@example.com'), await join(world, owner, 'bea@example.com')]

  assert.deepEqual(refusal(await ada.send('PATCH', '/me', { email: ' OWNER@example.com' })), [409, 'email_taken'])
  assert.equal((await ada.send('GET', '/me')).body.email, 'ada@example.com')
  for (const client of [ada, bea])
    assert.equal(
      (await client.send('PATCH', '/me', { email: 'new@example.com' })).body.pending_email,
      'new@example.com',
    )
  const { people } = world.services.operators
  const links = [await people.verifyEmail('ada@example.com'), await people.verifyEmail('bea@example.com')]
  await assert.rejects(people.verifyEmail('new@example.com'), /Several users/)
  const both = await Promise.all(
    links.map(({ link }) => consoleClient(world).send('POST', '/email_confirmations', { token: link.split('#')[1] })),
  )
  const answers = both.map((answer) => refusal(answer).join(' '))
  assert.deepEqual(new Set(answers), new Set(['200 ', '409 email_taken']))
})

test('a member is not invited again, and concurrent invitations of a new person create one user', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const owner = await signedInOwner(world)
  const first = owner.account
  await join(world, owner, 'ada@example.com')
  assert.deepEqual(refusal(await owner.send('POST', '/invitations', { email: 'Ada@example.com', role: 'viewer' })), [
    409,
    'member_exists',
  ])

  // Bea is invited under one address, joins under another, then changes to the first
  const { url } = (await owner.send('POST', '/invitations', { email: 'later@example.com', role: 'viewer' })).body
  const bea = await join(world, owner, 'bea@example.com')
  assert.equal((await bea.send('PATCH', '/me', { email: 'later@example.com' })).status, 200)
  assert.equal((await confirm(world, 'later@example.com')).body.email, 'later@example.com')
  assert.deepEqual(refusal(await bea.send('POST', '/invitations/accept', { token: url.split('#')[1] })), [
    409,
    'member_exists',
  ])

  const second = (await owner.send('POST', '/admin/accounts', { name: 'Second' })).body.id
  const links = []
  for (const account of [first, second]) {
    const invited = await owner.send(
      'POST',
      '/invitations',
      { email: 'cem@example.com', role: 'viewer' },
      { 'service-account': account },
    )
    links.push(invited.body.url.split('#')[1])
  }
  const cem = { name: 'Cem', password: ownerPassword }
  const accepted = await Promise.all(
    links.map((token) => consoleClient(world).send('POST', '/invitations/accept', { token, ...cem })),
  )
  for (const answer of accepted) if (answer.status !== 201) assert.deepEqual(refusal(answer), [401, 'session_required'])
  for (const [n, { status }] of accepted.entries())
    if (status !== 201)
      assert.equal(
        (await consoleClient(world).send('POST', '/invitations/accept', { token: links[n], ...cem })).status,
        201,
      )
  const [users] = await world.pool<
    { count: number }[]
  >`select count(*)::int as count from users where email = 'cem@example.com'`
  assert.equal(users!.count, 1)
})
