/** Contacts over HTTP (behaviour: contacts 1, 2, 3, 4). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../support/world.ts'

test('a contact is stored with its number in E.164 and returned complete', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const created = await api.post('/v1/contacts', {
    phone: '+49 (151) 1234-56.78',
    email: ' Ada@Example.com ',
    first_name: 'Ada',
    last_name: 'Lovelace',
    locale: 'de_AT',
    timezone: 'Europe/Vienna',
    external_id: 'crm-1',
    identifiers: { telegram: '4711' },
    consent: { sms: 'opted_in', whatsapp: { status: 'opted_in', source: 'form', occurred_at: '2026-01-31T09:30:00Z' } },
    tags: ['vip', ' Beta ', 'VIP'],
    attributes: { plan: 'pro', seats: 3, trial: false, gone: null },
    metadata: { a: [1, { b: null }] },
  })

  assert.equal(created.status, 201)
  const { id, created_at, updated_at, consent, ...rest } = created.body
  assert.match(id, /^ct_[0-7][0-9a-z]{25}$/)
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    object: 'contact',
    mode: 'test',
    phone: '+4915112345678',
    email: 'Ada@Example.com',
    first_name: 'Ada',
    last_name: 'Lovelace',
    full_name: 'Ada Lovelace',
    locale: 'de-AT',
    timezone: 'Europe/Vienna',
    country: 'DE',
    identifiers: { telegram: '4711' },
    tags: ['Beta', 'vip'],
    attributes: { plan: 'pro', seats: 3, trial: false },
    metadata: { a: [1, { b: null }] },
    blocked: false,
    external_id: 'crm-1',
    windows: {},
    last_seen_at: null,
    last_message_at: null,
  })
  assert.deepEqual(consent, {
    sms: { status: 'opted_in', source: 'api', updated_at: created_at },
    whatsapp: { status: 'opted_in', source: 'form', updated_at: '2026-01-31T09:30:00.000Z' },
  })
  assert.deepEqual((await api.get(`/v1/contacts/${id}`)).body, created.body)
  await world.invariants()
})

test('every failure in a contact is reported at once, and nothing is stored', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const refused = async (body: unknown) => {
    const {
      status,
      body: { error },
    } = await api.post('/v1/contacts', body)
    return {
      status,
      code: error?.code,
      params: (error?.details ?? []).map((detail: { param: string; code: string }) => `${detail.param}:${detail.code}`),
    }
  }

  const wrong = {
    phone: '0151 2345',
    email: 'nobody',
    timezone: 'Mars/Base',
    locale: 'x',
    consent: { sms: 'yes', pigeon: 'opted_in', whatsapp: { source: 'me', occurred_at: 'now' } },
    identifiers: { sms: '1', telegram: '', fax: '1' },
    attributes: { 'Bad Key': 1 },
    tags: ['', 'x'.repeat(65)],
  }
  const everything = [
    'phone:invalid_format',
    'email:invalid_format',
    'locale:invalid_format',
    'timezone:invalid_value',
    'identifiers.sms:invalid_format',
    'identifiers.telegram:too_short',
    'identifiers.fax:unknown_field',
    'consent.sms:invalid_value',
    'consent.pigeon:unknown_field',
    'consent.whatsapp.status:missing_field',
    'consent.whatsapp.source:invalid_value',
    'consent.whatsapp.occurred_at:invalid_format',
    'tags[0]:too_short',
    'tags[1]:too_long',
    'attributes["Bad Key"]:invalid_format',
  ]

  assert.deepEqual(await refused({}), { status: 400, code: 'parameter_missing', params: ['phone:missing_field'] })
  assert.deepEqual(await refused({ first_name: 'Ada' }), {
    status: 400,
    code: 'parameter_missing',
    params: ['phone:missing_field'],
  })
  assert.deepEqual(await refused({ phone: 5 }), {
    status: 400,
    code: 'parameter_invalid',
    params: ['phone:invalid_type'],
  })
  assert.deepEqual(await refused({ ...wrong, attributes: { ...wrong.attributes, deep: {} } }), {
    status: 400,
    code: 'parameter_invalid',
    params: ['attributes.deep:invalid_type', ...everything],
  })
  assert.deepEqual(
    await refused({ phone: '0151 2345', first_name: 5, tags: [5, ''], email: 'nobody', attributes: [] }),
    {
      status: 400,
      code: 'parameter_invalid',
      params: [
        'first_name:invalid_type',
        'tags[0]:invalid_type',
        'attributes:invalid_type',
        'phone:invalid_format',
        'email:invalid_format',
      ],
    },
  )
  assert.deepEqual(await refused(wrong), {
    status: 400,
    code: 'parameter_invalid',
    params: everything,
  })
  assert.deepEqual(await refused({ email: 'a@b.cd', metadata: { text: 'x'.repeat(17_000) } }), {
    status: 400,
    code: 'parameter_invalid',
    params: ['metadata:too_long'],
  })
  assert.deepEqual(await refused({ email: 'a@b.cd', tags: Array.from({ length: 51 }, (_, index) => `t${index}`) }), {
    status: 400,
    code: 'parameter_invalid',
    params: ['tags:too_many'],
  })
  assert.deepEqual(
    await refused({ email: 'a@b.cd', consent: { sms: { status: 'opted_in', occurred_at: '2999-01-01T00:00:00Z' } } }),
    {
      status: 400,
      code: 'parameter_invalid',
      params: ['consent.sms.occurred_at:invalid_value'],
    },
  )

  assert.deepEqual((await api.get('/v1/contacts')).body.data, [])
  assert.deepEqual((await api.get('/v1/contact_attributes')).body.data, [])
})

test('national variants of one number are one contact', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const pairs = [
    ['+5511987654321', '+551187654321'],
    ['+525512345678', '+5215512345678'],
    ['+5491123456789', '+541123456789'],
  ] as const

  for (const [one, other] of pairs) {
    const created = await api.post('/v1/contacts', { phone: one })
    const twin = await api.post('/v1/contacts', { phone: other })
    const upserted = await api.post('/v1/contacts/upsert', { phone: other, first_name: 'Ana' })
    const found = await api.get(`/v1/contacts?phone=${encodeURIComponent(other)}`)

    assert.deepEqual([twin.status, twin.body.error.code, twin.body.error.param], [409, 'contact_exists', 'phone'])
    assert.deepEqual(
      [upserted.status, upserted.body.id, upserted.body.phone, upserted.body.first_name],
      [200, created.body.id, one, 'Ana'],
    )
    assert.deepEqual(
      found.body.data.map((contact: { id: string }) => contact.id),
      [created.body.id],
    )
  }
  await world.invariants()
})

test('a phone number or identifier belongs to one contact', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone: '+4915112345678', identifiers: { telegram: '1' } })).body
  const bob = (await api.post('/v1/contacts', { phone: '+4915112345679' })).body

  const phone = await api.patch(`/v1/contacts/${bob.id}`, { phone: '+49 151 12345678', first_name: 'Bob' })
  const identifier = await api.patch(`/v1/contacts/${bob.id}`, { identifiers: { telegram: '1' } })
  const upsert = await api.post('/v1/contacts/upsert', { phone: '+4915112345679', identifiers: { telegram: '1' } })

  assert.deepEqual([phone.status, phone.body.error.code, phone.body.error.param], [409, 'contact_exists', 'phone'])
  assert.deepEqual(
    [identifier.status, identifier.body.error.code, identifier.body.error.param],
    [409, 'contact_exists', 'identifiers.telegram'],
  )
  assert.deepEqual([upsert.status, upsert.body.error.code], [409, 'contact_exists'])
  assert.deepEqual((await api.get(`/v1/contacts/${bob.id}`)).body, bob)

  const freed = await api.patch(`/v1/contacts/${ada.id}`, { identifiers: { telegram: null } })
  const taken = await api.patch(`/v1/contacts/${bob.id}`, { identifiers: { telegram: '1' } })
  assert.deepEqual([freed.body.identifiers, taken.body.identifiers], [{}, { telegram: '1' }])
  await world.invariants()
})

test('a change merges maps by key, replaces tags and metadata, and leaves the rest', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const before = (
    await api.post('/v1/contacts', {
      phone: '+4915112345678',
      first_name: 'Ada',
      tags: ['VIP', 'new'],
      attributes: { a: 1, b: 'x' },
      metadata: { k: 1 },
      consent: { sms: 'opted_in' },
    })
  ).body
  await world.clock.advance(1000)

  const changed = (
    await api.patch(`/v1/contacts/${before.id}`, {
      first_name: null,
      last_name: 'L',
      tags: ['vip'],
      attributes: { b: null, c: true },
      metadata: null,
      consent: { whatsapp: 'opted_in', sms: null },
    })
  ).body
  const unchanged = (await api.patch(`/v1/contacts/${before.id}`, {})).body
  const stripped = await api.patch(`/v1/contacts/${before.id}`, { phone: null })

  assert.deepEqual(
    [
      changed.first_name,
      changed.full_name,
      changed.tags,
      changed.attributes,
      changed.metadata,
      Object.keys(changed.consent),
    ],
    [null, 'L', ['VIP'], { a: 1, c: true }, {}, ['whatsapp']],
  )
  assert.ok(changed.updated_at > before.updated_at)
  assert.deepEqual(unchanged, changed)
  assert.deepEqual(
    [stripped.status, stripped.body.error.code, stripped.body.error.param],
    [400, 'parameter_missing', 'phone'],
  )
  await world.invariants()
})

test('an upsert with the stored values changes nothing, whatever the order of keys and the depth of metadata', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  let deep: object = { last: true }
  for (let i = 0; i < 29; i++) deep = { b: 1, a: deep }
  const contact = {
    phone: '+4915112345678',
    metadata: { z: [{ y: 1, x: 2 }], deep },
    attributes: { plan: 'pro', orders: 1 },
  }

  const created = await api.post('/v1/contacts/upsert', contact)
  await world.clock.advance(1000)
  const again = await api.post('/v1/contacts/upsert', {
    attributes: { orders: 1, plan: 'pro' },
    metadata: { deep, z: [{ x: 2, y: 1 }] },
    phone: contact.phone,
  })
  const changed = await api.post('/v1/contacts/upsert', {
    phone: contact.phone,
    metadata: { deep, z: [{ x: 2, y: 3 }] },
  })

  assert.deepEqual([created.status, again.status, changed.status], [201, 200, 200])
  assert.deepEqual([again.body, created.body.metadata], [created.body, contact.metadata])
  assert.ok(changed.body.updated_at > created.body.updated_at)
})

test('an upsert creates once, then updates and adds tags', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const first = await api.post('/v1/contacts/upsert', {
    phone: '+49 151 12345678',
    tags: ['a'],
    consent: { sms: 'opted_out' },
  })
  const second = await api.post('/v1/contacts/upsert', { phone: '+4915112345678', first_name: 'Ada', tags: ['A', 'b'] })
  const without = await api.post('/v1/contacts/upsert', { first_name: 'Ada' })

  assert.deepEqual([first.status, second.status, second.body.id], [201, 200, first.body.id])
  assert.deepEqual(
    [second.body.tags, second.body.first_name, second.body.consent.sms.status],
    [['a', 'b'], 'Ada', 'opted_out'],
  )
  assert.deepEqual(
    [without.status, without.body.error.code, without.body.error.param],
    [400, 'parameter_missing', 'phone'],
  )
  await world.invariants()
})

test('an upsert with too many tags is refused, naming the field that was sent', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/contacts', { phone: '+4915112345678', tags: Array.from({ length: 50 }, (_, i) => `t${i}`) })

  const { status, body } = await api.post('/v1/contacts/upsert', { phone: '+4915112345678', tags: ['T0', 'more'] })

  assert.deepEqual([status, body.error.code, body.error.param], [400, 'parameter_invalid', 'tags'])
})

test('concurrent creates and upserts of one number create one contact', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const creates = await Promise.all(
    Array.from({ length: 8 }, () => api.post('/v1/contacts', { phone: '+4915112345678' })),
  )
  const upserts = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      api.post('/v1/contacts/upsert', { phone: '+4915112345679', tags: [`t${index}`] }),
    ),
  )

  assert.deepEqual(
    creates.map((answer) => answer.status).sort((a, b) => a - b),
    [201, ...Array.from({ length: 7 }, () => 409)],
  )
  assert.deepEqual(
    upserts.map((answer) => answer.status).sort((a, b) => a - b),
    [...Array.from({ length: 7 }, () => 200), 201],
  )
  const all = (await api.get('/v1/contacts')).body.data
  assert.equal(all.length, 2)
  assert.equal(all[0].tags.length, 8)
  await world.invariants()
})

test('at the contact limit nothing is created, and updates still work', async (t) => {
  const world = await startWorld(t, { settings: { contact_limit: 3 } })
  const { api } = await world.account()

  const creates = await Promise.all(
    Array.from({ length: 8 }, (_, index) => api.post('/v1/contacts', { phone: `+491511234567${index}` })),
  )
  const made = creates.filter((answer) => answer.status === 201).map((answer) => answer.body)
  const known = await api.post('/v1/contacts', { phone: made[0].phone })
  const upserted = await api.post('/v1/contacts/upsert', { phone: made[0].phone, first_name: 'Ada' })
  const stranger = await api.post('/v1/contacts/upsert', { phone: '+4915119999999' })
  const patched = await api.patch(`/v1/contacts/${made[1].id}`, { first_name: 'Bob' })

  assert.equal(made.length, 3)
  assert.deepEqual(
    new Set(
      creates.filter((answer) => answer.status !== 201).map((answer) => `${answer.status} ${answer.body.error.code}`),
    ),
    new Set(['400 contact_limit_reached']),
  )
  assert.equal(known.body.error.code, 'contact_exists')
  assert.deepEqual([upserted.status, patched.status, stranger.body.error.code], [200, 200, 'contact_limit_reached'])
  await api.delete(`/v1/contacts/${made[2].id}`)
  assert.equal((await api.post('/v1/contacts', { phone: '+4915119999999' })).status, 201)
  await world.invariants()
})

test('contacts are found by every filter, newest first', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const make = async (body: object) => {
    await world.clock.advance(60_000)
    return (await api.post('/v1/contacts', body)).body
  }
  const ada = await make({
    phone: '+4915112345678',
    email: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'Ömer',
    external_id: 'x1',
    tags: ['VIP'],
    consent: { sms: 'opted_in' },
  })
  const bob = await make({
    phone: '+14155550100',
    email: 'Bob@Example.com',
    first_name: 'Bob',
    last_name: 'Adams',
    tags: ['beta'],
    consent: { sms: 'opted_out' },
  })
  const eve = await make({ email: 'eve+news@example.org' })
  const list = (await api.post('/v1/contact_lists', { name: 'L' })).body
  await api.post(`/v1/contact_lists/${list.id}/members`, { contacts: [eve.id] })
  const ids = async (query: string) =>
    (await api.get(`/v1/contacts?${query}`)).body.data.map((contact: { id: string }) => contact.id)

  assert.deepEqual(await ids(''), [eve.id, bob.id, ada.id])
  assert.deepEqual(await ids('phone=%2B49+151+12345678'), [ada.id])
  assert.deepEqual(await ids('phone=+4915112345678'), [ada.id])
  assert.deepEqual(await ids('phone=nobody'), [])
  assert.deepEqual(await ids('email=BOB@example.com'), [bob.id])
  assert.deepEqual(await ids('email=eve%2Bnews@example.org'), [eve.id])
  assert.deepEqual(await ids('email=eve+news@example.org'), [eve.id], 'an unescaped plus')
  assert.deepEqual(await ids('external_id=x1'), [ada.id])
  assert.deepEqual(await ids('tag=vip'), [ada.id])
  assert.deepEqual(await ids('tag=none'), [])
  assert.deepEqual(await ids(`list=${list.id}`), [eve.id])
  assert.deepEqual(await ids('list=lst_0'), [])
  assert.deepEqual(await ids('segment=seg_0'), [])
  assert.deepEqual(await ids('consent=sms:opted_in'), [ada.id])
  assert.deepEqual(await ids('consent=sms:unknown'), [eve.id])
  assert.deepEqual(await ids('query=ADA'), [bob.id, ada.id])
  assert.deepEqual(await ids('query=ada%20%C3%96m'), [ada.id])
  assert.deepEqual(await ids('query=%C3%B6M'), [ada.id])
  assert.deepEqual(await ids('query=eve%2Bnews@'), [eve.id])
  assert.deepEqual(await ids('query=%2B1415'), [bob.id])
  assert.deepEqual(await ids('query=1415'), [bob.id])
  assert.deepEqual(await ids('query=%25'), [])
  const blank = await api.get('/v1/contacts?query=%20')
  assert.deepEqual([blank.status, blank.body.error.code, blank.body.error.param], [400, 'parameter_invalid', 'query'])
  assert.deepEqual(await ids(`created_after=${ada.created_at}`), [eve.id, bob.id])
  assert.deepEqual(await ids(`created_before=${bob.created_at}`), [ada.id])
  assert.deepEqual(await ids(`updated_after=${bob.updated_at}`), [eve.id])
  assert.deepEqual(await ids('tag=vip&consent=sms:opted_out'), [])
  for (const bad of [
    'consent=sms',
    'consent=sms:maybe',
    'consent=pigeon:opted_in',
    'created_after=soon',
    'tag=',
    'limit=0',
    'limit=101',
    'name=Ada',
    'starting_after=ct_0',
    `starting_after=${list.id}`,
  ]) {
    const { status, body } = await api.get(`/v1/contacts?${bad}`)
    assert.deepEqual([status, body.error?.code, body.error?.param], [400, 'parameter_invalid', bad.split('=')[0]], bad)
  }
})

test('paging continues after the last contact of a page is deleted', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ids: string[] = []
  for (let index = 0; index < 5; index++)
    ids.unshift((await api.post('/v1/contacts', { email: `p${index}@example.com` })).body.id)

  const first = (await api.get('/v1/contacts?limit=2')).body
  await api.delete(`/v1/contacts/${first.next_cursor}`)
  const second = (await api.get(`/v1/contacts?limit=2&starting_after=${first.next_cursor}`)).body
  const third = (await api.get(`/v1/contacts?limit=2&starting_after=${second.next_cursor}`)).body

  assert.deepEqual(
    [...first.data, ...second.data, ...third.data].map((contact: { id: string }) => contact.id),
    ids,
  )
  assert.deepEqual([first.has_more, second.has_more, third.has_more, third.next_cursor], [true, true, false, null])
})

test('a deleted contact is gone with its memberships and tags, but its opt-out stays', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (
    await api.post('/v1/contacts', {
      phone: '+4915112345678',
      first_name: 'Ada',
      tags: ['vip'],
      attributes: { plan: 'pro' },
      consent: { sms: 'opted_out' },
    })
  ).body
  const list = (await api.post('/v1/contact_lists', { name: 'L' })).body
  await api.post(`/v1/contact_lists/${list.id}/members`, { contacts: [ada.id] })

  const deleted = await api.delete(`/v1/contacts/${ada.id}`)
  const again = await api.delete(`/v1/contacts/${ada.id}`)

  assert.deepEqual([deleted.status, deleted.body], [200, { id: ada.id, object: 'contact', deleted: true }])
  assert.equal(again.status, 404)
  for (const path of [`/v1/contacts/${ada.id}`, `/v1/contacts/${ada.id}/consent_history`])
    assert.equal((await api.get(path)).status, 404)
  assert.deepEqual((await api.get('/v1/contact_tags')).body.data, [])
  assert.deepEqual((await api.get('/v1/contact_attributes')).body.data, [
    { object: 'contact_attribute', key: 'plan', type: 'string', contacts_count: 0 },
  ])
  assert.equal((await api.get(`/v1/contact_lists/${list.id}`)).body.contacts_count, 0)
  const tables = await world.pool<
    { found: string }[]
  >`select 'x' as found from contacts union all select 'y' from consent_changes union all select 'z' from contact_addresses union all select 'm' from contact_list_members`
  assert.deepEqual([...tables], [])

  const back = (await api.post('/v1/contacts', { phone: '+4915112345678' })).body
  assert.equal(back.consent.sms.status, 'opted_out')
  await world.invariants()
})

test('contacts of another account or mode do not exist', async (t) => {
  const world = await startWorld(t)
  const one = await world.account()
  const other = await world.account()
  const ada = (await one.api.post('/v1/contacts', { phone: '+4915112345678' })).body

  assert.equal((await other.api.post('/v1/contacts', { phone: '+4915112345678' })).status, 201)
  for (const answer of [
    await other.api.get(`/v1/contacts/${ada.id}`),
    await other.api.patch(`/v1/contacts/${ada.id}`, { first_name: 'Eve' }),
    await other.api.delete(`/v1/contacts/${ada.id}`),
    await other.api.get(`/v1/contacts/${ada.id}/consent_history`),
    await one.api.get('/v1/contacts/nonsense'),
    await one.api.patch('/v1/contacts/lst_0', {}),
  ]) {
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'resource_missing'])
  }
  assert.equal((await other.api.get(`/v1/contacts?starting_after=${ada.id}`)).status, 400)
})

test('tags are changed in bulk, counted ignoring case, and listed by name', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone: '+4915112345678', tags: ['VIP', 'old'] })).body
  const bob = (await api.post('/v1/contacts', { phone: '+4915112345679' })).body

  const byId = await api.post('/v1/contacts/tags', {
    contacts: [ada.id, bob.id, bob.id, 'ct_00000000000000000000000000', 'x'],
    add: ['vip', 'Neu'],
    remove: ['OLD'],
  })
  const byPhone = await api.post('/v1/contacts/tags', {
    phones: ['+49 151 12345679', '+4915100000000', 'x'],
    add: ['vip'],
  })
  await world.periodicJobs()

  assert.deepEqual(byId.body, {
    object: 'contact_tags_result',
    updated: 2,
    not_found: ['x', 'ct_00000000000000000000000000'],
  })
  assert.deepEqual(byPhone.body, { object: 'contact_tags_result', updated: 0, not_found: ['+4915100000000', 'x'] })
  assert.deepEqual((await api.get(`/v1/contacts/${ada.id}`)).body.tags, ['Neu', 'VIP'])
  assert.deepEqual((await api.get('/v1/contact_tags')).body, {
    object: 'list',
    data: [
      { object: 'contact_tag', name: 'Neu', contacts_count: 2 },
      { object: 'contact_tag', name: 'VIP', contacts_count: 2 },
    ],
    has_more: false,
    next_cursor: null,
  })
  const page = (await api.get('/v1/contact_tags?limit=1')).body
  assert.deepEqual(
    [page.has_more, page.next_cursor, (await api.get('/v1/contact_tags?limit=1&starting_after=Neu')).body.data[0].name],
    [true, 'Neu', 'VIP'],
  )
  await world.invariants()

  const many = Array.from({ length: 49 }, (_, index) => `t${index}`)
  const tooMany = await api.post('/v1/contacts/tags', { contacts: [ada.id, bob.id], add: many })
  assert.deepEqual(
    [tooMany.status, tooMany.body.error.param, tooMany.body.error.details[0].code],
    [400, 'add', 'too_many'],
  )
  assert.deepEqual((await api.get(`/v1/contacts/${ada.id}`)).body.tags, ['Neu', 'VIP'])
  for (const [body, param] of [
    [{ add: ['a'] }, 'contacts'],
    [{ contacts: [ada.id] }, 'add'],
    [{ contacts: [], add: ['a'] }, 'contacts'],
    [{ contacts: [ada.id], phones: ['x'], add: ['a'] }, 'phones'],
    [{ contacts: [ada.id], add: [''] }, 'add[0]'],
  ] as const) {
    const {
      status,
      body: { error },
    } = await api.post('/v1/contacts/tags', body)
    assert.deepEqual([status, error.param], [400, param])
  }
  assert.equal((await api.get('/v1/contact_tags?starting_after=nothing')).status, 400)
})

test('attributes are listed with the type that most values have', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  await api.post('/v1/contacts', { phone: '+4915112345670', attributes: { plan: 'pro', seats: '3' } })
  await api.post('/v1/contacts', { phone: '+4915112345671', attributes: { seats: 3 } })
  await api.post('/v1/contacts', { phone: '+4915112345672', attributes: { seats: 4, trial: true, none: null } })

  assert.deepEqual((await api.get('/v1/contact_attributes')).body.data, [
    { object: 'contact_attribute', key: 'plan', type: 'string', contacts_count: 1 },
    { object: 'contact_attribute', key: 'seats', type: 'number', contacts_count: 3 },
    { object: 'contact_attribute', key: 'trial', type: 'boolean', contacts_count: 1 },
  ])
})

test('a creation repeated with one Idempotency-Key creates one contact', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const headers = { 'idempotency-key': 'k1' }

  const first = await api.post('/v1/contacts', { phone: '+4915112345678' }, headers)
  const second = await api.post('/v1/contacts', { phone: '+4915112345678' }, headers)
  const conflict = await api.post('/v1/contacts', { phone: '+4915112345678' }, { 'idempotency-key': 'k2' })
  const replayed = await api.post('/v1/contacts', { phone: '+4915112345678' }, { 'idempotency-key': 'k2' })

  assert.deepEqual(
    [first.status, second.status, second.headers['idempotent-replayed'], second.body],
    [201, 201, 'true', first.body],
  )
  assert.deepEqual([conflict.status, replayed.status, replayed.headers['idempotent-replayed']], [409, 409, 'true'])
})

test('an outbound message links its contact and moves last_message_at without updating the contact', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ada = (await api.post('/v1/contacts', { phone: '+5511987654321' })).body
  await world.clock.advance(5000)

  const sent = (
    await api.post('/v1/messages', { channel: 'ch_test_sms', to: '+551187654321', type: 'text', text: { body: 'Oi' } })
  ).body
  await world.services.contacts.flushActivity()
  const after = (await api.get(`/v1/contacts/${ada.id}`)).body

  assert.equal(sent.contact_id, ada.id)
  assert.deepEqual(
    [after.last_message_at, after.last_seen_at, after.updated_at],
    [sent.created_at, null, ada.updated_at],
  )
})
