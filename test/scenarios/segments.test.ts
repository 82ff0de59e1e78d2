import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startWorld, type TestAccount } from '../support/world.ts'

async function start(t: TestContext) {
  const world = await startWorld(t)
  const account = await world.account()
  return { world, account, api: account.api }
}

const all = (...conditions: unknown[]) => ({ match: 'all', conditions })
const vips = all({ field: 'tags', operator: 'contains', value: 'VIP' })

async function contact({ api }: TestAccount, body: object): Promise<string> {
  const made = await api.post('/v1/contacts', body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

test('a segment is created, read, updated and deleted', async (t) => {
  const { world, api } = await start(t)

  const made = await api.post('/v1/segments', { name: ' VIPs ', rules: vips })
  const read = await api.get(`/v1/segments/${made.body.id}`)
  await world.clock.advance(1000)
  const changed = await api.patch(`/v1/segments/${made.body.id}`, {
    description: 'The best ones',
    rules: all({ field: 'blocked', operator: 'equals', value: false }),
  })
  const untouched = await api.patch(`/v1/segments/${made.body.id}`, {})
  const gone = await api.delete(`/v1/segments/${made.body.id}`)
  const twice = await api.delete(`/v1/segments/${made.body.id}`)

  assert.equal(made.status, 201)
  assert.deepEqual(made.body, {
    id: made.body.id,
    object: 'segment',
    mode: 'test',
    name: 'VIPs',
    description: '',
    rules: vips,
    created_at: '2026-01-31T09:30:00.000Z',
    updated_at: '2026-01-31T09:30:00.000Z',
  })
  assert.match(made.body.id, /^seg_/)
  assert.deepEqual(read.body, made.body)
  assert.deepEqual(
    [changed.body.name, changed.body.description, changed.body.rules.conditions[0].field, changed.body.updated_at],
    ['VIPs', 'The best ones', 'blocked', '2026-01-31T09:30:01.000Z'],
  )
  assert.equal(untouched.body.rules.conditions[0].field, 'blocked')
  assert.deepEqual([gone.status, gone.body], [200, { id: made.body.id, object: 'segment', deleted: true }])
  assert.deepEqual([twice.status, twice.body.error.code], [404, 'resource_missing'])
})

test('invalid rules are refused with every path and reason, and nothing is stored', async (t) => {
  const { api } = await start(t)
  const segment = (await api.post('/v1/segments', { name: 'VIPs', rules: vips })).body
  const wrong = all(
    { field: 'shoe', operator: 'exists' },
    { field: 'tags', operator: 'equals', value: 'x' },
    { field: 'email', operator: 'in', value: 'x' },
  )

  const refused = await api.post('/v1/segments', { name: 'Wrong', rules: wrong })
  const kept = await api.patch(`/v1/segments/${segment.id}`, { name: 'Other', rules: wrong })
  const nameless = await api.post('/v1/segments', { rules: vips })
  const blank = await api.post('/v1/segments', { name: '  ', rules: vips })
  const text = await api.post('/v1/segments', { name: 'x', rules: 'all' })
  const several = await api.post('/v1/segments', { rules: wrong, description: 5 })

  for (const answer of [refused, kept]) {
    assert.deepEqual(
      [answer.status, answer.body.error.code, answer.body.error.param],
      [400, 'parameter_invalid', 'rules.conditions[0].field'],
    )
    assert.deepEqual(
      answer.body.error.details.map((detail: { param: string; code: string }) => `${detail.param} ${detail.code}`),
      [
        'rules.conditions[0].field invalid_value',
        'rules.conditions[1].operator invalid_value',
        'rules.conditions[2].value invalid_type',
      ],
    )
  }
  assert.deepEqual(
    several.body.error.details.map((detail: { param: string }) => detail.param),
    ['name', 'description', 'rules.conditions[0].field', 'rules.conditions[1].operator', 'rules.conditions[2].value'],
  )
  assert.deepEqual([nameless.body.error.code, nameless.body.error.param], ['parameter_missing', 'name'])
  assert.deepEqual([blank.body.error.code, blank.body.error.param], ['parameter_invalid', 'name'])
  assert.deepEqual([text.body.error.code, text.body.error.param], ['parameter_invalid', 'rules'])
  assert.deepEqual(
    (await api.get('/v1/segments')).body.data.map((each: { name: string }) => each.name),
    ['VIPs'],
  )
})

test('a preview counts exactly, also the reachable contacts per channel type', async (t) => {
  const { account, api } = await start(t)
  await contact(account, { phone: '+15005551011', tags: ['vip'] })
  await contact(account, { phone: '+15005551012', tags: ['Vip'], consent: { sms: 'opted_out' } })
  await contact(account, { phone: '+15005551013', tags: ['VIP'], blocked: true, identifiers: { telegram: '1' } })
  await contact(account, {
    identifiers: { telegram: '2', whatsapp: 'US.1349' },
    tags: ['vip'],
    consent: { whatsapp: 'unknown' },
  })
  await contact(account, { email: 'a@example.com', tags: ['vip'] })
  await contact(account, { phone: '+15005551014' })
  const segment = (await api.post('/v1/segments', { name: 'VIPs', rules: vips })).body

  const preview = await api.get(`/v1/segments/${segment.id}/preview`)

  assert.deepEqual(preview.body, {
    object: 'segment_preview',
    segment_id: segment.id,
    count: 5,
    reachable: { whatsapp: 3, sms: 1, telegram: 1 },
    evaluated_at: '2026-01-31T09:30:00.000Z',
  })
})

test('the contacts of a segment can be listed, and follow their changes', async (t) => {
  const { account, api } = await start(t)
  const ada = await contact(account, { phone: '+15005551011', first_name: 'Ada', attributes: { orders: 12 } })
  const bob = await contact(account, { phone: '+15005551012', first_name: 'Bob', attributes: { orders: 3 } })
  const segment = (
    await api.post('/v1/segments', {
      name: 'Loyal',
      rules: all({ field: 'attributes.orders', operator: 'greater_than', value: 10 }),
    })
  ).body
  const members = async (query = '') =>
    (await api.get(`/v1/contacts?segment=${segment.id}${query}`)).body.data.map((each: { id: string }) => each.id)

  const before = await members()
  await api.patch(`/v1/contacts/${bob}`, { attributes: { orders: 11 } })
  const after = await members()

  assert.deepEqual(before, [ada])
  assert.deepEqual(after, [bob, ada])
  assert.deepEqual(await members('&query=ada'), [ada])
  await api.delete(`/v1/segments/${segment.id}`)
  assert.deepEqual(await members(), [])
})

test('a rule matches phone numbers in any spelling', async (t) => {
  const { account, api } = await start(t)
  const ada = await contact(account, { phone: '+49 (0)151 1234-5678' })
  await contact(account, { phone: '+15005551012' })

  for (const [operator, value] of [
    ['equals', '+49 151 12345678'],
    ['in', ['+49 (0)151 12345678']],
    ['starts_with', '+49 151'],
    ['contains', '1234-56'],
  ]) {
    const segment = (
      await api.post('/v1/segments', { name: 'A number', rules: all({ field: 'phone', operator, value }) })
    ).body
    const found = (await api.get(`/v1/contacts?segment=${segment.id}`)).body.data.map((each: { id: string }) => each.id)
    assert.deepEqual(found, [ada], JSON.stringify(value))
  }
})

test('with a deleted list positive conditions match nobody and negations everybody', async (t) => {
  const { account, api } = await start(t)
  const ada = await contact(account, { phone: '+15005551011' })
  await contact(account, { phone: '+15005551012' })
  const list = (await api.post('/v1/contact_lists', { name: 'Friends' })).body
  await api.post(`/v1/contact_lists/${list.id}/members`, { contacts: [ada] })
  const counts = async () => {
    const found: number[] = []
    for (const operator of ['contains_any', 'contains_all', 'contains_none']) {
      const made = await api.post('/v1/segments', {
        name: operator,
        rules: all({ field: 'lists', operator, value: [list.id] }),
      })
      segments.push(made.body)
      found.push((await api.get(`/v1/segments/${made.body.id}/preview`)).body.count)
    }
    return found
  }
  const segments: { id: string; rules: object }[] = []

  const before = await counts()
  await api.delete(`/v1/contact_lists/${list.id}`)
  const after = []
  for (const { id } of segments) after.push((await api.get(`/v1/segments/${id}/preview`)).body.count)
  const restated = await api.patch(`/v1/segments/${segments[0]!.id}`, { rules: segments[0]!.rules })
  const anew = await api.post('/v1/segments', { name: 'New', rules: segments[0]!.rules })

  assert.deepEqual(before, [1, 1, 1])
  assert.deepEqual(after, [0, 0, 2])
  assert.equal(restated.status, 200)
  assert.deepEqual(
    [anew.status, anew.body.error.code, anew.body.error.param],
    [404, 'resource_missing', 'rules.conditions[0].value[0]'],
  )
})

test('a segment uses its new rules at once, and matches nobody after its deletion', async (t) => {
  const { account, api } = await start(t)
  await contact(account, { phone: '+15005551011', tags: ['vip'] })
  await contact(account, { phone: '+15005551012' })
  const { id } = (await api.post('/v1/segments', { name: 'VIPs', rules: vips })).body
  const preview = async () => (await api.get(`/v1/segments/${id}/preview`)).body.count
  const found = async () => (await api.get(`/v1/contacts?segment=${id}`)).body.data?.length

  const before = [await preview(), await preview(), await found()]
  await api.patch(`/v1/segments/${id}`, { rules: all({ field: 'blocked', operator: 'equals', value: false }) })
  const after = [await preview(), await preview(), await found()]
  await api.delete(`/v1/segments/${id}`)

  assert.deepEqual(before, [1, 1, 1])
  assert.deepEqual(after, [2, 2, 2])
  assert.deepEqual([await preview(), await found()], [undefined, 0])
})

test('segments and lists of another account or mode do not exist', async (t) => {
  const { world, account, api } = await start(t)
  const stranger = await world.account()
  const segment = (await api.post('/v1/segments', { name: 'VIPs', rules: vips })).body
  const list = (await stranger.api.post('/v1/contact_lists', { name: 'Theirs' })).body
  await contact(account, { phone: '+15005551011', tags: ['vip'] })
  const theirs = (await stranger.api.post('/v1/segments', { name: 'VIPs', rules: vips })).body

  const answers = [
    await stranger.api.get(`/v1/segments/${segment.id}`),
    await stranger.api.get(`/v1/segments/${segment.id}/preview`),
    await stranger.api.patch(`/v1/segments/${segment.id}`, { name: 'x' }),
    await stranger.api.delete(`/v1/segments/${segment.id}`),
    await api.post('/v1/segments', { name: 'x', rules: all({ field: 'lists', operator: 'contains', value: list.id }) }),
    await api.get('/v1/segments/seg_nonsense'),
    await api.get(`/v1/segments/${list.id}/preview`),
  ]

  for (const answer of answers) assert.deepEqual([answer.status, answer.body.error.code], [404, 'resource_missing'])
  assert.equal((await stranger.api.get(`/v1/segments/${theirs.id}/preview`)).body.count, 0)
  assert.deepEqual((await stranger.api.get(`/v1/contacts?segment=${segment.id}`)).body.data, [])
})

test('segments are paged newest first, also past one that has been deleted', async (t) => {
  const { world, api } = await start(t)
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) ids.unshift((await api.post('/v1/segments', { name, rules: vips })).body.id)
  const stranger = await world.account()

  const first = await api.get('/v1/segments?limit=2')
  await api.delete(`/v1/segments/${first.body.next_cursor}`)
  const second = await api.get(`/v1/segments?limit=2&starting_after=${first.body.next_cursor}`)
  const foreign = await stranger.api.get(`/v1/segments?starting_after=${ids[0]}`)
  const unknown = await api.get('/v1/segments?starting_after=seg_01h455vb4pex5vsknk084sn02q')

  assert.deepEqual(
    first.body.data.map((each: { id: string }) => each.id),
    ids.slice(0, 2),
  )
  assert.deepEqual(
    [second.body.data.map((each: { id: string }) => each.id), second.body.has_more],
    [ids.slice(2), false],
  )
  for (const answer of [foreign, unknown])
    assert.deepEqual([answer.status, answer.body.error.param], [400, 'starting_after'])
})

test('members are read in batches, in order', async (t) => {
  const { world, account, api } = await start(t)
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await contact(account, { phone: `+1500555101${n}`, tags: ['vip'] }))
  const segment = (await api.post('/v1/segments', { name: 'VIPs', rules: vips })).body
  const tenant = { account_id: account.id as `acc_${string}`, mode: 'test' as const }
  const { segments } = world.services.contacts

  const first = await segments.segmentMembers(world.pool, tenant, segment.id, '', 3)
  const rest = await segments.segmentMembers(world.pool, tenant, segment.id, first!.at(-1)!, 3)

  assert.deepEqual([first, rest], [ids.slice(0, 3), ids.slice(3)])
  assert.equal(await segments.segmentMembers(world.pool, tenant, 'seg_01h455vb4pex5vsknk084sn02q', '', 3), null)
})
