/** Contact lists over HTTP (behaviour: contacts 6). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../support/world.ts'

test('a list is created, updated, paged and deleted; its contacts stay', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const created = await api.post('/v1/contact_lists', { name: ' Friends ', metadata: { a: 1 } })
  const { id, created_at, updated_at, ...rest } = created.body
  assert.equal(created.status, 201)
  assert.match(id, /^lst_/)
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    object: 'contact_list',
    mode: 'test',
    name: 'Friends',
    description: '',
    metadata: { a: 1 },
    contacts_count: 0,
  })

  await world.clock.advance(1000)
  const changed = (await api.patch(`/v1/contact_lists/${id}`, { description: 'Close ones', metadata: null })).body
  assert.deepEqual([changed.name, changed.description, changed.metadata], ['Friends', 'Close ones', {}])
  assert.ok(changed.updated_at > updated_at)
  assert.deepEqual((await api.patch(`/v1/contact_lists/${id}`, {})).body, changed)

  const other = (await api.post('/v1/contact_lists', { name: 'Others' })).body
  const page = (await api.get('/v1/contact_lists?limit=1')).body
  assert.deepEqual([page.data[0].id, page.has_more, page.next_cursor], [other.id, true, other.id])

  const ada = (await api.post('/v1/contacts', { phone: '+4915112345678' })).body
  await api.post(`/v1/contact_lists/${other.id}/members`, { contacts: [ada.id] })
  assert.deepEqual((await api.delete(`/v1/contact_lists/${other.id}`)).body, {
    id: other.id,
    object: 'contact_list',
    deleted: true,
  })
  assert.equal((await api.delete(`/v1/contact_lists/${other.id}`)).status, 404)
  assert.deepEqual(
    (await api.get(`/v1/contact_lists?starting_after=${other.id}`)).body.data.map((list: { id: string }) => list.id),
    [id],
  )
  assert.deepEqual((await api.get(`/v1/contacts?list=${other.id}`)).body.data, [])
  assert.equal((await api.get(`/v1/contacts/${ada.id}`)).status, 200)
  await world.invariants()
  await world.periodicJobs()
  assert.deepEqual([...(await world.pool`select 1 from contact_list_members`)], [])
  await world.invariants()
})

test('members are added and removed, and the reply says what each was', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const [ada, bob, eve] = await Promise.all(
    [1, 2, 3].map(async (n) => (await api.post('/v1/contacts', { phone: `+491511234567${n}` })).body.id),
  )
  const list = (await api.post('/v1/contact_lists', { name: 'L' })).body
  const path = `/v1/contact_lists/${list.id}/members`
  const unknown = 'ct_00000000000000000000000000'

  const added = await api.post(path, { contacts: [ada, bob, bob] })
  const again = await api.post(path, { contacts: [bob, eve, unknown, 'x'] })
  const removed = await api.post(`${path}/remove`, { contacts: [ada, ada, unknown] })
  const not = await api.post(`${path}/remove`, { contacts: [ada] })

  assert.deepEqual(
    [added.status, added.body],
    [
      200,
      {
        object: 'contact_list_members',
        list_id: list.id,
        added: 2,
        already_members: 0,
        not_found: [],
        contacts_count: 2,
      },
    ],
  )
  assert.deepEqual(again.body, {
    object: 'contact_list_members',
    list_id: list.id,
    added: 1,
    already_members: 1,
    not_found: [unknown, 'x'],
    contacts_count: 3,
  })
  assert.deepEqual(removed.body, {
    object: 'contact_list_members',
    list_id: list.id,
    removed: 1,
    not_members: 0,
    not_found: [unknown],
    contacts_count: 2,
  })
  assert.deepEqual([not.body.removed, not.body.not_members], [0, 1])
  assert.deepEqual(
    (await api.get(`/v1/contacts?list=${list.id}`)).body.data.map((contact: { id: string }) => contact.id),
    [eve, bob].toSorted((a: string, b: string) => (a < b ? 1 : -1)),
  )
  await world.periodicJobs()
  assert.equal((await api.get(`/v1/contact_lists/${list.id}`)).body.contacts_count, 2)
  await world.invariants()
})

test('members added concurrently are counted once', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone: '+4915112345678' })).body
  const list = (await api.post('/v1/contact_lists', { name: 'L' })).body

  const answers = await Promise.all(
    Array.from({ length: 8 }, () => api.post(`/v1/contact_lists/${list.id}/members`, { contacts: [ada.id] })),
  )

  assert.equal(
    answers.reduce((sum, answer) => sum + answer.body.added, 0),
    1,
  )
  assert.equal((await api.get(`/v1/contact_lists/${list.id}`)).body.contacts_count, 1)
  await world.invariants()
})

test('an invalid list is refused by field, and other accounts cannot see it', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const other = await world.account()
  const list = (await api.post('/v1/contact_lists', { name: 'L' })).body
  const theirs = (await other.api.post('/v1/contacts', { phone: '+4915112345678' })).body
  const refused = async (path: string, body: unknown) => {
    const {
      status,
      body: { error },
    } = await api.post(path, body)
    return [status, error?.code, error?.param]
  }

  assert.deepEqual(await refused('/v1/contact_lists', {}), [400, 'parameter_missing', 'name'])
  assert.deepEqual(await refused('/v1/contact_lists', { name: '  ' }), [400, 'parameter_invalid', 'name'])
  const all = await api.post('/v1/contact_lists', { name: ' ', description: 5, metadata: { a: 'x'.repeat(17_000) } })
  assert.deepEqual(
    all.body.error.details.map((detail: { param: string }) => detail.param),
    ['description', 'name', 'metadata'],
  )
  assert.deepEqual(await refused('/v1/contact_lists', { name: 'x'.repeat(121) }), [400, 'parameter_invalid', 'name'])
  assert.deepEqual(await refused('/v1/contact_lists', { name: 'L', metadata: { a: 'x'.repeat(17_000) } }), [
    400,
    'parameter_invalid',
    'metadata',
  ])
  assert.deepEqual(await refused(`/v1/contact_lists/${list.id}/members`, {}), [400, 'parameter_missing', 'contacts'])
  assert.deepEqual(await refused(`/v1/contact_lists/${list.id}/members`, { contacts: [] }), [
    400,
    'parameter_invalid',
    'contacts',
  ])
  assert.deepEqual(
    await refused(`/v1/contact_lists/${list.id}/members`, { contacts: Array.from({ length: 1001 }, () => 'x') }),
    [400, 'parameter_invalid', 'contacts'],
  )
  assert.deepEqual(await refused(`/v1/contact_lists/${list.id}/members`, { contacts: [5] }), [
    400,
    'parameter_invalid',
    'contacts[0]',
  ])
  assert.deepEqual(await refused('/v1/contact_lists/lst_0/members', { contacts: [theirs.id] }), [
    404,
    'resource_missing',
    undefined,
  ])

  assert.deepEqual((await api.post(`/v1/contact_lists/${list.id}/members`, { contacts: [theirs.id] })).body.not_found, [
    theirs.id,
  ])
  for (const answer of [
    await other.api.get(`/v1/contact_lists/${list.id}`),
    await other.api.patch(`/v1/contact_lists/${list.id}`, { name: 'Mine' }),
    await other.api.delete(`/v1/contact_lists/${list.id}`),
    await other.api.post(`/v1/contact_lists/${list.id}/members`, { contacts: [theirs.id] }),
    await other.api.post(`/v1/contact_lists/${list.id}/members/remove`, { contacts: [theirs.id] }),
    await api.get('/v1/contact_lists/nonsense'),
  ]) {
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'resource_missing'])
  }
  assert.equal((await other.api.get(`/v1/contact_lists?starting_after=${list.id}`)).status, 400)
  assert.deepEqual((await other.api.get(`/v1/contacts?list=${list.id}`)).body.data, [])
})
