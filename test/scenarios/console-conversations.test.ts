/** Conversations of the inbox. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInOwner, type ConsoleClient } from '../support/console-api.ts'
import { startWorld } from '../support/world.ts'

const writes = async (client: ConsoleClient, channel: string, from: string, body: string) => {
  const answer = await client.send('POST', '/v1/test/inbound_messages', { channel, from, type: 'text', text: { body } })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

test('an inbound message reopens a conversation and keeps its assignee', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const me = (await client.send('GET', '/session')).body.user.id
  const first = await writes(client, 'ch_test_whatsapp', '+15005550006', 'Hello')
  await world.clock.advance(1000)
  await writes(client, 'ch_test_sms', '+15005550010', 'Hi')
  const list = async (query = '') => (await client.send('GET', `/conversations${query}`)).body.data

  const [sms, whatsapp] = await list()
  assert.deepEqual(
    [sms.channel_id, sms.identifier, sms.status, sms.read, sms.assignee, sms.window_expires_at],
    ['ch_test_sms', '+15005550010', 'open', false, null, null],
  )
  assert.equal(whatsapp.contact_id, first.contact_id)
  assert.deepEqual(
    [whatsapp.contact_name, whatsapp.last_message_type, whatsapp.last_message_text],
    [null, 'text', 'Hello'],
  )
  await client.send('PATCH', `/v1/contacts/${first.contact_id}`, { first_name: 'Ada', last_name: 'Lovelace' })
  assert.equal(Date.parse(whatsapp.window_expires_at) - Date.parse(first.created_at), 24 * 3600_000)

  const path = `/conversations/${whatsapp.id}`
  await client.send('PATCH', path, { read: true })
  const done = await client.send('PATCH', path, { status: 'done', read: true, assignee: me })
  assert.deepEqual(
    [done.status, done.body.status, done.body.read, done.body.assignee, done.body.assignee_name],
    [200, 'done', true, me, 'Olivia Owner'],
  )
  const entries = (await client.send('GET', `/audit_entries?object_id=${whatsapp.id}`)).body.data
  assert.deepEqual(
    entries.map(({ changes }: { changes: unknown }) => changes),
    [{ status: 'done', read: true, assignee: me }],
    'reading is no change that the audit log tells of',
  )
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id)
  assert.deepEqual(ids(await list('?status=open')), [sms.id])
  assert.deepEqual(ids(await list('?status=done')), [whatsapp.id])
  assert.deepEqual(ids(await list(`?assignee=${me}`)), [whatsapp.id])

  await world.clock.advance(1000)
  await writes(client, 'ch_test_whatsapp', '+15005550006', 'Again')
  const again = (await client.send('GET', path)).body
  assert.deepEqual([again.status, again.read, again.assignee], ['open', false, me])
  assert.deepEqual([again.contact_name, again.last_message_text], ['Ada Lovelace', 'Again'])
  assert.deepEqual(ids(await list('?limit=1')), [whatsapp.id])
  assert.deepEqual(ids(await list(`?starting_after=${whatsapp.id}`)), [sms.id])
  assert.equal((await client.send('PATCH', path, { assignee: null })).body.assignee, null)
})

test('a conversation contains its inbound and outbound messages, in pages', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  const send = (channel: string, to: string, body: string) =>
    client.send('POST', '/v1/messages', { channel, to, type: 'text', text: { body } })
  for (const body of ['1', '3']) {
    await writes(client, 'ch_test_sms', '+15005550006', body)
    await world.clock.advance(10)
    await send('ch_test_sms', '+15005550006', String(Number(body) + 1))
    await world.clock.advance(10)
  }
  await send('ch_test_whatsapp', '+15005550006', 'elsewhere')
  await writes(client, 'ch_test_sms', '+15005550010', 'somebody else')
  const { id } = (await client.send('GET', '/conversations')).body.data.find(
    ({ identifier }: { identifier: string }) => identifier === '+15005550006',
  )

  type Page = { data: { content: { text: { body: string } } }[]; has_more: boolean; next_cursor: string }
  const first: Page = (await client.send('GET', `/conversations/${id}/messages?limit=3`)).body
  const second: Page = (
    await client.send('GET', `/conversations/${id}/messages?limit=3&starting_after=${first.next_cursor}`)
  ).body
  const bodies = [...first.data, ...second.data].map(({ content }) => content.text.body)

  assert.deepEqual([first.has_more, second.has_more], [true, false])
  assert.deepEqual(bodies, ['4', '3', '2', '1'])
})

test('a conversation belongs to one mode, is answered with permission, and is assigned to members only', async (t) => {
  const world = await startWorld(t)
  await world.account()
  const client = await signedInOwner(world)
  await writes(client, 'ch_test_sms', '+15005550006', 'Hello')
  const [{ id, contact_id }] = (await client.send('GET', '/conversations')).body.data
  const path = `/conversations/${id}`
  const stranger = await client.send('PATCH', path, { assignee: world.platform.ids('usr') })
  assert.deepEqual([stranger.status, stranger.body.error.param], [400, 'assignee'])
  assert.equal((await client.send('PATCH', path, { status: 'archived' })).status, 400)
  assert.equal((await client.send('GET', '/conversations?starting_after=cnv_x')).body.error.param, 'starting_after')

  await client.send('DELETE', `/v1/contacts/${contact_id}`)
  assert.equal((await client.send('GET', path)).body.contact_id, null)
  await world.pool`update memberships set role = 'viewer'`
  assert.equal((await client.send('GET', path)).status, 200)
  assert.equal((await client.send('PATCH', path, { read: true })).body.error.code, 'role_not_allowed')
  client.mode = 'live'
  assert.equal((await client.send('GET', path)).body.error.code, 'resource_missing')
  assert.equal((await client.send('GET', `${path}/messages`)).status, 404)
})
