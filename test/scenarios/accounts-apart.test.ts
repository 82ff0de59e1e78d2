/** Accounts are independent, so one can move to a database of its own (docs/guides/growing.md). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { tables } from '../../src/app.ts'
import { ownedBy } from '../../src/platform/database/table-scope.ts'
import { seedAccount } from '../support/seeded-account.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

async function rowsOf({ pool }: World, account_id: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const table of Object.keys(tables)) {
    const own = ownedBy(tables, table, account_id)
    if (own === undefined) continue
    const rows = await pool.unsafe<{ row: string }[]>(
      `select row_to_json(t)::text as row from ${table} t where ${own} order by 1`,
    )
    found.set(
      table,
      rows.map(({ row }) => row),
    )
  }
  return found
}

/** Without the ids of sandbox channels, which are the same in every account. */
const idsIn = (rows: ReadonlyMap<string, readonly string[]>): Set<string> =>
  new Set([...rows.values()].flat().flatMap((row) => row.match(/\b[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}\b/g) ?? []))

async function calm(world: World): Promise<void> {
  for (let minutes = 0; minutes < 30; minutes++) {
    await world.clock.advance(60_000)
    await world.settle()
  }
  await world.tick('request-log')
}

/** A number belongs to one channel of the installation. */
const senders = ['+4915100000001', '+4915100000002']

async function pay(world: World, { id }: TestAccount, identifier: string): Promise<void> {
  const { key } = await world.services.accounts.createKey({ account_id: id, mode: 'live' })
  const api = world.api(key)
  await world.services.billing.creditWallet(world.pool, id, 100_000, null)
  const made = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Sender',
    identifier,
    credentials: {},
  })
  assert.ok([201, 409].includes(made.status), JSON.stringify(made.body))
  const [channel] = (await api.get('/v1/channels')).body.data
  const sent = await api.post(
    '/v1/messages',
    { channel: channel.id, to: '+4915112345601', type: 'text', text: { body: 'Hi' } },
    { 'idempotency-key': 'one' },
  )
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  await world.settle()
}

test("two accounts with the same people, keys and references never see each other's data", async (t) => {
  const world = await startWorld(t)
  const [first, second] = [await world.account({ name: 'First' }), await world.account({ name: 'Second' })]
  for (const [at, account] of [first, second].entries()) {
    await seedAccount(world, account)
    await pay(world, account, senders[at]!)
  }
  await calm(world)
  const before = await rowsOf(world, second.id)

  const { api } = first
  const [contact] = (await api.get('/v1/contacts')).body.data
  await api.patch(`/v1/contacts/${contact.id}`, { first_name: 'Changed', tags: ['regular', 'changed'] })
  await api.post('/v1/test/inbound_messages', {
    channel: 'ch_test_sms',
    from: '+4915112345602',
    type: 'text',
    text: { body: 'STOP' },
  })
  await api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+4915112345603',
    type: 'text',
    text: { body: 'Hi' },
    reference: 'table-118',
  })
  await pay(world, first, senders[0]!)
  for (const endpoint of (await api.get('/v1/webhook_endpoints')).body.data)
    await api.post(`/v1/webhook_endpoints/${endpoint.id}/roll_secret`)
  for (const path of ['automations', 'segments', 'contact_lists', 'campaigns'])
    for (const { id } of (await api.get(`/v1/${path}`)).body.data) await api.delete(`/v1/${path}/${id}`)
  await api.delete(`/v1/contacts/${contact.id}`)
  await world.services.accounts.suspend(first.id)
  await world.settle()
  await world.tick('request-log')
  const [after, others] = [await rowsOf(world, second.id), await rowsOf(world, first.id)]

  const filled = [...before].filter(([, rows]) => rows.length > 0).map(([table]) => table)
  assert.ok(filled.length >= 30, `rows in ${filled.join(', ')}`)
  assert.deepEqual(Object.fromEntries(after), Object.fromEntries(before))
  const theirs = idsIn(others)
  assert.deepEqual(
    [...idsIn(after)].filter((id) => theirs.has(id)),
    [],
  )
  await world.invariants()
})
