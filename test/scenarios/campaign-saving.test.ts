/** Validation of campaigns (behaviour: campaigns 1, 3). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Answered } from '../support/api.ts'
import { requestExample } from '../../src/docs/openapi.ts'
import { startWorld } from '../support/world.ts'

const to = '+4915112345678'
const spring = {
  name: 'Spring sale',
  channel: 'ch_test_sms',
  audience: { type: 'adhoc', recipients: [{ to }] },
  message: { type: 'text', text: { body: 'Our spring sale has begun.' } },
}
const adhoc = (...recipients: object[]) => ({ audience: { type: 'adhoc', recipients } })
const tags = (...named: unknown[]) => ({ audience: { type: 'tags', tags: named } })
const schedule = (given: object) => ({ schedule: given })
const text = (body: unknown) => ({ message: { type: 'text', text: { body } } })
const smile = '😀'

const refusalOf = ({ status, body }: Answered): unknown[] => [
  status,
  body.error?.code,
  ...(body.error?.details ?? [{ param: body.error?.param, code: '' }]).map(
    ({ param, code }: { param: string; code: string }) => `${param} ${code}`.trim(),
  ),
]

async function startTest(t: TestContext) {
  const world = await startWorld(t, { settings: { rate_limit_default: 10_000 } })
  const { api } = await world.account()
  return { world, api, save: async (more: object) => await api.post('/v1/campaigns', { ...spring, ...more }) }
}

test('every field of a campaign is validated and reported by path', async (t) => {
  const { save } = await startTest(t)
  const invalid = (more: object, ...failures: string[]): [object, unknown[]] => [
    more,
    [400, 'parameter_invalid', ...failures],
  ]
  const missing = (more: object, ...failures: string[]): [object, unknown[]] => [
    more,
    [400, 'parameter_missing', ...failures],
  ]
  const refused: [object, unknown[]][] = [
    missing(
      { name: undefined, channel: undefined, audience: undefined, message: undefined },
      'name missing_field',
      'channel missing_field',
      'audience missing_field',
      'message missing_field',
    ),
    invalid({ name: ' \n' }, 'name too_short'),
    invalid({ name: smile.repeat(121) }, 'name too_long'),
    [{ channel: 'ch_nobodys' }, [404, 'resource_missing', 'channel']],
    missing({ audience: {} }, 'audience.type missing_field'),
    invalid({ audience: { type: 'constructor' } }, 'audience.type invalid_value'),
    missing({ audience: { type: 'segment', list_id: 'lst_1' } }, 'audience.segment_id missing_field'),
    missing({ audience: { type: 'list', list_id: null } }, 'audience.list_id missing_field'),
    missing({ audience: { type: 'tags' } }, 'audience.tags missing_field'),
    missing({ audience: { type: 'adhoc' } }, 'audience.recipients missing_field'),
    [{ audience: { type: 'list', list_id: 'seg_1' } }, [404, 'resource_missing', 'audience.list_id']],
    [{ audience: { type: 'segment', segment_id: 'seg_1' } }, [404, 'resource_missing', 'audience.segment_id']],
    invalid(tags(), 'audience.tags too_few'),
    invalid(tags(...Array.from({ length: 21 }, (_, i) => `t${i}`)), 'audience.tags too_many'),
    invalid(tags('a', ' '), 'audience.tags[1] too_short'),
    invalid(tags('x'.repeat(65)), 'audience.tags[0] too_long'),
    invalid({ audience: { type: 'tags', tags: ['a'], match: 'none' } }, 'audience.match invalid_value'),
    invalid(adhoc(), 'audience.recipients too_few'),
    invalid(adhoc(...Array.from({ length: 10_001 }, () => ({ to: '1' }))), 'audience.recipients too_many'),
    missing(adhoc({}), 'audience.recipients[0].to missing_field'),
    invalid(adhoc({ to }, { to: '' }), 'audience.recipients[1].to too_short'),
    invalid(adhoc({ to: smile.repeat(256) }), 'audience.recipients[0].to too_long'),
    invalid(
      adhoc({ to, first_name: smile.repeat(101), last_name: 'x'.repeat(101) }),
      'audience.recipients[0].first_name too_long',
      'audience.recipients[0].last_name too_long',
    ),
    invalid(
      adhoc({ to, variables: { a: [1], b: {} } }),
      'audience.recipients[0].variables.a invalid_type',
      'audience.recipients[0].variables.b invalid_type',
    ),
    [{ message: { type: 'button', button: {} } }, [400, 'unsupported_message_type', 'message.type']],
    [{ message: { type: 'type' } }, [400, 'unsupported_message_type', 'message.type']],
    missing({ message: { type: 'text' } }, 'message.text missing_field'),
    invalid(text('x'.repeat(1601)), 'message.text.body too_long'),
    invalid(text(`${'x'.repeat(1600)}{{first_name}}`), 'message.text.body too_long'),
    invalid(text('{{First_name}}{{attributes.}}{{}}'), ...Array<string>(3).fill('message.text.body unknown_merge_tag')),
    invalid({ merge_fallbacks: { first_name: 3 } }, 'merge_fallbacks.first_name invalid_type'),
    invalid({ merge_fallbacks: { '{{first_name}}': 'x' } }, 'merge_fallbacks["{{first_name}}"] unknown_merge_tag'),
    invalid(
      { require_opt_in: 'yes', consent_declared: 1 },
      'require_opt_in invalid_type',
      'consent_declared invalid_type',
    ),
    ...['2026-01-31T09:30:00', '2026-01-31', 'tomorrow', '2026-02-30T00:00:00Z', ''].map((send_at) =>
      invalid(schedule({ send_at }), 'schedule.send_at invalid_format'),
    ),
    ...['Mars/Phobos', '+01:00', ''].map((timezone) =>
      invalid(schedule({ timezone }), 'schedule.timezone invalid_format'),
    ),
    missing(schedule({ send_window: { start: '09:00' } }), 'schedule.send_window.end missing_field'),
    missing(schedule({ send_window: { end: '09:00' } }), 'schedule.send_window.start missing_field'),
    invalid(
      schedule({ send_window: { start: '9:00', end: '24:00' } }),
      'schedule.send_window.start invalid_format',
      'schedule.send_window.end invalid_format',
    ),
    invalid(schedule({ recipient_timezone: 1 }), 'schedule.recipient_timezone invalid_type'),
    invalid({ throttle_per_second: 0 }, 'throttle_per_second invalid_value'),
    invalid({ throttle_per_second: 101 }, 'throttle_per_second invalid_value'),
    invalid({ throttle_per_second: 1.5 }, 'throttle_per_second invalid_type'),
    [{ launch: true }, [400, 'consent_required', 'consent_declared']],
  ]

  for (const [more, expected] of refused)
    assert.deepEqual(refusalOf(await save(more)), expected, JSON.stringify(more).slice(0, 200))
})

test('failures of the schema and of the service are reported together', async (t) => {
  const { save } = await startTest(t)

  const refused = await save({
    name: ' ',
    audience: { type: 'tags', tags: [' '] },
    throttle_per_second: 0,
    schedule: { timezone: 'x' },
    merge_fallbacks: { a: 1 },
  })

  assert.deepEqual(
    refusalOf(refused)
      .map(String)
      .toSorted((a, b) => (a < b ? -1 : 1)),
    [
      '400',
      'audience.tags[0] too_short',
      'merge_fallbacks.a invalid_type',
      'name too_short',
      'parameter_invalid',
      'schedule.timezone invalid_format',
      'throttle_per_second invalid_value',
    ],
  )
})

test('every field has its bounds, and a default if omitted or null', async (t) => {
  const { save } = await startTest(t)
  const kept: [object, (shown: Answered['body']) => unknown, unknown][] = [
    [{ name: smile.repeat(120) }, ({ name }) => name, smile.repeat(120)],
    [tags(' VIP', 'vip', 'b '), ({ audience }) => audience, { type: 'tags', tags: ['VIP', 'b'], match: 'any' }],
    [{ audience: { type: 'tags', tags: ['a'], match: 'all' } }, ({ audience }) => audience.match, 'all'],
    [
      {
        audience: {
          type: 'tags',
          tags: ['a'],
          match: null,
          list_id: 'lst_1',
          segment_id: null,
          recipients: [{ to }],
          save_as_contacts: true,
        },
      },
      ({ audience }) => audience,
      { type: 'tags', tags: ['a'], match: 'any' },
    ],
    [
      adhoc(...Array.from({ length: 10_000 }, () => ({ to: '1' }))),
      ({ audience }) => audience.recipients_count,
      10_000,
    ],
    [
      adhoc({ to: smile.repeat(255), first_name: smile.repeat(100), last_name: null, variables: null }),
      ({ audience }) => audience.recipients[0].to,
      smile.repeat(255),
    ],
    [
      adhoc({ to, variables: { text: 'a', number: 1.5, flag: false, nothing: null } }),
      ({ audience }) => audience.recipients[0].variables,
      { text: 'a', number: 1.5, flag: false, nothing: null },
    ],
    [text(`${'x'.repeat(1595)}{{first_name}}`), ({ message }) => message.text.body.length, 1609],
    [
      { message: { type: 'text', text: { body: 'Hi', own: 1 }, to, other: {} } },
      ({ message }) => message,
      { type: 'text', text: { body: 'Hi', own: 1 } },
    ],
    [
      { merge_fallbacks: null, schedule: null },
      (shown) => [shown.merge_fallbacks, shown.schedule.timezone],
      [{}, 'UTC'],
    ],
    [
      schedule({ send_at: '2026-01-31T09:30:00.123456+05:30' }),
      (shown) => shown.schedule.send_at,
      '2026-01-31T04:00:00.123Z',
    ],
    [
      schedule({ timezone: 'Europe/Vienna', send_window: { start: '22:00', end: '06:00' }, recipient_timezone: true }),
      (shown) => shown.schedule,
      {
        send_at: null,
        timezone: 'Europe/Vienna',
        send_window: { start: '22:00', end: '06:00' },
        recipient_timezone: true,
      },
    ],
    [schedule({ send_at: null, timezone: null, send_window: null }), (shown) => shown.schedule.timezone, 'UTC'],
    [{ throttle_per_second: 100 }, ({ throttle_per_second }) => throttle_per_second, 100],
  ]

  for (const [more, read, expected] of kept) {
    const saved = await save(more)
    assert.equal(saved.status, 201, JSON.stringify(saved.body).slice(0, 300))
    assert.deepEqual(read(saved.body), expected)
  }
})

test('a campaign and its channel belong to the mode of the key', async (t) => {
  const { world, api } = await startTest(t)
  const { accounts } = world.services
  const { id: account_id } = await accounts.create({ name: 'Both' })
  const [live, both] = [
    world.api((await accounts.createKey({ account_id, mode: 'live' })).key),
    world.api((await accounts.createKey({ account_id, mode: 'test' })).key),
  ]
  const channel = (
    await live.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'S',
      identifier: '+15005550199',
      credentials: {},
    })
  ).body.id
  const saved = (await live.post('/v1/campaigns', { ...spring, channel })).body

  assert.equal(saved.mode, 'live')
  for (const answer of [
    await both.post('/v1/campaigns', { ...spring, channel }),
    await live.post('/v1/campaigns', spring),
  ])
    assert.deepEqual(refusalOf(answer), [404, 'resource_missing', 'channel'])
  for (const other of [both, api]) {
    const path = `/v1/campaigns/${saved.id}`
    const answers = [
      await other.get(path),
      await other.patch(path, { name: 'x' }),
      await other.delete(path),
      await other.post(`${path}/duplicate`),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 404, 404],
    )
    assert.deepEqual((await other.get('/v1/campaigns')).body.data, [])
  }
})

test('campaigns are listed by status, newest first, in pages', async (t) => {
  const { api, save } = await startTest(t)
  const ids: string[] = []
  for (const name of ['one', 'two', 'three', 'four']) ids.push((await save({ name })).body.id)
  await api.post(`/v1/campaigns/${ids[1]}/cancel`)
  const idsOf = async (query: string) =>
    (await api.get(`/v1/campaigns?${query}`)).body.data.map(({ id }: { id: string }) => id)

  const first = (await api.get('/v1/campaigns?status=draft&limit=2')).body

  assert.deepEqual(
    [first.data.map(({ id }: { id: string }) => id), first.has_more, first.next_cursor],
    [[ids[3], ids[2]], true, ids[2]],
  )
  assert.deepEqual(await idsOf(`status=draft&limit=2&starting_after=${first.next_cursor}`), [ids[0]])
  assert.deepEqual(await idsOf('status=cancelled'), [ids[1]])
  assert.deepEqual(await idsOf('status=completed'), [])
  for (const query of [
    'status=sent',
    'status=',
    'limit=0',
    'limit=101',
    'starting_after=cmp_nobodys',
    `starting_after=${ids[0]}x`,
    'state=draft',
  ])
    assert.deepEqual(refusalOf(await api.get(`/v1/campaigns?${query}`)).slice(0, 2), [400, 'parameter_invalid'], query)
})

test('a change validates the whole draft, so missing objects must be replaced with it', async (t) => {
  const { api, save } = await startTest(t)
  const list = (await api.post('/v1/contact_lists', { name: 'Friends' })).body.id
  const { id, ...before } = (
    await save({
      audience: { type: 'list', list_id: list },
      schedule: { timezone: 'Europe/Vienna' },
      require_opt_in: true,
    })
  ).body
  await api.delete(`/v1/contact_lists/${list}`)
  const patch = (body: object) => api.patch(`/v1/campaigns/${id}`, body)

  assert.deepEqual(refusalOf(await patch({ name: 'Another' })), [404, 'resource_missing', 'audience.list_id'])
  assert.deepEqual(refusalOf(await api.post(`/v1/campaigns/${id}/duplicate`)), [
    404,
    'resource_missing',
    'audience.list_id',
  ])
  assert.deepEqual(refusalOf(await patch({ name: '', throttle_per_second: 0 })), [
    400,
    'parameter_invalid',
    'name too_short',
    'throttle_per_second invalid_value',
  ])
  const changed = await patch({ audience: { type: 'tags', tags: ['vip'] }, merge_fallbacks: { first_name: 'friend' } })
  assert.deepEqual(changed.body, {
    ...before,
    id,
    audience: { type: 'tags', tags: ['vip'], match: 'any' },
    merge_fallbacks: { first_name: 'friend' },
    cost: { ...before.cost, estimated_credits: 0, estimated_wallet_micros: 0 },
  })
  assert.deepEqual((await patch({ schedule: {}, merge_fallbacks: null })).body, {
    ...changed.body,
    schedule: { send_at: null, timezone: 'UTC', send_window: null, recipient_timezone: false },
    merge_fallbacks: {},
  })
  const ignored = await patch({ launch: true, status: 'sending' })
  assert.deepEqual(
    [ignored.status, ignored.body.status, ignored.headers['service-ignored-fields']],
    [200, 'draft', 'launch, status'],
  )
})

test("ignored fields of a campaign's message are named", async (t) => {
  const { api, save } = await startTest(t)
  const message = {
    type: 'text',
    text: { body: 'Hello' },
    button: {},
    reference: 'spring',
    metadata: { season: 'spring' },
  }
  const created = await save({ message, colour: 'red' })
  const patched = await api.patch(`/v1/campaigns/${created.body.id}`, { message })
  const clean = await api.patch(`/v1/campaigns/${created.body.id}`, {
    message: { type: 'text', text: { body: 'Hello' } },
  })

  assert.deepEqual(
    [created, patched, clean].map(({ status, headers, body }) => [
      status,
      headers['service-ignored-fields'],
      body.message,
    ]),
    [
      [201, 'colour, message.reference, message.metadata', { type: 'text', text: { body: 'Hello' } }],
      [200, 'message.reference, message.metadata', { type: 'text', text: { body: 'Hello' } }],
      [200, undefined, { type: 'text', text: { body: 'Hello' } }],
    ],
  )
})

test('concurrent changes of a draft do not undo each other', async (t) => {
  const { api, save } = await startTest(t)
  const { id } = (await save({})).body
  const fallbacks = Array.from({ length: 20 }, (_, i) => ({ merge_fallbacks: { first_name: `friend ${i}` } }))
  const changes = [
    ...fallbacks,
    { name: 'Another' },
    { throttle_per_second: 7 },
    { require_opt_in: true },
    adhoc({ to }, { to: '+4915112345679' }),
  ]

  const answers = await Promise.all(changes.map((change) => api.patch(`/v1/campaigns/${id}`, change)))

  assert.deepEqual(
    answers.map(({ status }) => status),
    changes.map(() => 200),
  )
  const { name, throttle_per_second, require_opt_in, audience } = (await api.get(`/v1/campaigns/${id}`)).body
  assert.deepEqual([name, throttle_per_second, require_opt_in, audience.recipients_count], ['Another', 7, true, 2])
})

test('a draft can be deleted once', async (t) => {
  const { api, save } = await startTest(t)
  const { id } = (await save({})).body

  assert.equal((await api.delete(`/v1/campaigns/${id}`)).status, 200)
  const answers = [
    await api.delete(`/v1/campaigns/${id}`),
    await api.get(`/v1/campaigns/${id}`),
    await api.post(`/v1/campaigns/${id}/launch`),
  ]
  for (const answer of [...answers, await api.delete('/v1/campaigns/lst_1')])
    assert.deepEqual(refusalOf(answer).slice(0, 2), [404, 'resource_missing'])
})

test('a draft that changes during its launch is validated again', async (t) => {
  const { world, api, save } = await startTest(t)
  const template = { type: 'template', template: { name: 'order_update', language: { code: 'en_US' } } }
  const { id } = (await save({ channel: 'ch_test_whatsapp', message: template, consent_declared: true })).body
  const { channels } = world.services
  const look = channels.templateVerdictAsked
  let looks = 0
  // the last check that may take long
  channels.templateVerdictAsked = async (...asked) => {
    if (looks++ === 0) assert.equal((await api.patch(`/v1/campaigns/${id}`, { consent_declared: false })).status, 200)
    return await look(...asked)
  }

  const launched = await api.post(`/v1/campaigns/${id}/launch`)

  assert.deepEqual(refusalOf(launched), [400, 'consent_required', 'consent_declared'])
  assert.equal((await api.get(`/v1/campaigns/${id}`)).body.status, 'draft')
})

test('a draft without its list, segment or channel is not launched', async (t) => {
  const { world, save } = await startTest(t)
  const { api } = await world.account({ mode: 'live', credit_micros: 10_000_000 })
  const channel = (
    await api.post('/v1/channels', {
      type: 'sms',
      provider: 'simulator',
      name: 'S',
      identifier: '+15005550199',
      credentials: {},
    })
  ).body.id
  const list = (await api.post('/v1/contact_lists', { name: 'Friends' })).body.id
  const rules = { match: 'all', conditions: [{ field: 'tags', operator: 'contains_any', value: ['a'] }] }
  const segment = (await api.post('/v1/segments', { name: 'S', rules })).body.id
  const drafts: string[] = []
  for (const more of [
    { audience: { type: 'list', list_id: list } },
    {},
    { audience: { type: 'segment', segment_id: segment } },
  ])
    drafts.push((await api.post('/v1/campaigns', { ...spring, ...more, channel, consent_declared: true })).body.id)

  await api.delete(`/v1/contact_lists/${list}`)
  const listless = await api.post(`/v1/campaigns/${drafts[0]}/launch`)
  const unconsented = await api.post(`/v1/campaigns/${drafts[0]}/launch`, { consent_declared: false })
  await api.patch(`/v1/channels/${channel}`, { status: 'disabled' })
  const unconnected = await api.post(`/v1/campaigns/${drafts[0]}/launch`)
  await api.patch(`/v1/channels/${channel}`, { status: 'active' })
  await api.delete(`/v1/segments/${segment}`)
  const segmentless = await api.post(`/v1/campaigns/${drafts[2]}/launch`)
  await api.delete(`/v1/channels/${channel}`)
  const channelless = await api.post(`/v1/campaigns/${drafts[1]}/launch`)
  const renamed = await api.patch(`/v1/campaigns/${drafts[1]}`, { name: 'Another' })

  assert.deepEqual(refusalOf(listless), [404, 'resource_missing', 'audience.list_id'])
  // cheap checks come before the size of the audience
  assert.deepEqual(refusalOf(unconsented), [400, 'consent_required', 'consent_declared'])
  assert.deepEqual(refusalOf(unconnected).slice(0, 2), [422, 'channel_not_connected'])
  assert.deepEqual(refusalOf(segmentless), [404, 'resource_missing', 'audience.segment_id'])
  assert.deepEqual(refusalOf(channelless), [404, 'resource_missing', 'channel'])
  assert.deepEqual(refusalOf(renamed), [404, 'resource_missing', 'channel'])
  assert.equal((await save({})).status, 201)
})

test('the reference examples work one after the other', async (t) => {
  const { world, api } = await startTest(t)
  const example = (name: string): unknown =>
    requestExample(world.app.routes.find(({ method, path }) => `${method} ${path}` === name)!)

  const created = await api.post('/v1/campaigns', example('POST /v1/campaigns'))
  const path = `/v1/campaigns/${created.body.id}`
  const answers = [created, await api.patch(path, example('PATCH /v1/campaigns/{id}'))]
  for (const action of ['test', 'duplicate', 'launch'])
    answers.push(await api.post(`${path}/${action}`, example(`POST /v1/campaigns/{id}/${action}`)))

  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 200, 202, 201, 200],
  )
})
