/** Rendering, previews and duplicates of campaigns (behaviour: campaigns 3, 5, 6). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Api } from '../support/api.ts'
import { startWorld, type World } from '../support/world.ts'

const phone = (n: number) => `+4915112345${n}`
const spring = { name: 'Spring sale', channel: 'ch_test_sms', consent_declared: true, throttle_per_second: 100 }
const adhoc = (...recipients: object[]) => ({ type: 'adhoc', recipients })
const body = (text: string) => ({ type: 'text', text: { body: text } })

interface Recipient {
  readonly to: string
  readonly status: string
  readonly message_id: string | null
  readonly error: { readonly code: string; readonly message: string } | null
}

async function startTest(t: TestContext) {
  const world = await startWorld(t, { settings: { rate_limit_default: 10_000 } })
  const { api } = await world.account()
  return { world, api }
}

async function finish(world: World, api: Api, id: string): Promise<Recipient[]> {
  for (let passed = 0; passed < 10_000; passed += 100) {
    await world.tick('campaign-snapshots', 'campaigns', 'dispatch', 'callbacks', 'project-campaigns')
    if ((await api.get(`/v1/campaigns/${id}`)).body.status === 'completed') break
    await world.clock.advance(100)
  }
  assert.equal((await api.get(`/v1/campaigns/${id}`)).body.status, 'completed')
  return (await api.get(`/v1/campaigns/${id}/recipients?limit=100`)).body.data
}

async function textsOf(world: World, api: Api, campaign: object): Promise<unknown[]> {
  const saved = await api.post('/v1/campaigns', { ...spring, ...campaign, launch: true })
  assert.equal(saved.status, 201, JSON.stringify(saved.body))
  const texts = []
  for (const { message_id, error } of await finish(world, api, saved.body.id))
    texts.push(message_id === null ? error?.code : (await api.get(`/v1/messages/${message_id}`)).body.content.text.body)
  return texts
}

test('tags use variables first, then the contact, then the fallback; numbers and booleans are written as they are', async (t) => {
  const { world, api } = await startTest(t)
  const ada = { phone: phone(700), first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', locale: 'en' }
  await api.post('/v1/contacts', { ...ada, attributes: { city: 'London', points: 42, vip: true } })
  const names = [
    'full_name',
    'first_name',
    'phone',
    'email',
    'locale',
    'attributes.city',
    'attributes.points',
    'attributes.vip',
    'code',
  ]

  const texts = await textsOf(world, api, {
    message: body(names.map((name) => `{{ ${name} }}`).join('|')),
    merge_fallbacks: { first_name: 'friend', 'attributes.city': '{{code}}', code: 'none', email: 'no mail' },
    audience: adhoc(
      { to: phone(700) },
      { to: phone(700).replace('+49', '+43'), first_name: 'Grace' },
      {
        to: phone(701),
        first_name: 'Vera',
        last_name: 'Rubin',
        variables: { code: 7, city: false, first_name: 'V.', email: '' },
      },
    ),
  })

  assert.deepEqual(texts, [
    'Ada Lovelace|Ada|+4915112345700|ada@example.com|en|London|42|true|none',
    'Grace|Grace|+4315112345700|no mail||{{code}}|||none',
    'V. Rubin|V.|+4915112345701|no mail||false|||7',
  ])
})

test('a value is plain text: it can neither add tags nor change what surrounds it', async (t) => {
  const { world, api } = await startTest(t)
  const values = [
    '{{first_name}}',
    '"}, "to": "+1',
    '}}{{code}}',
    "$& $1 \\n ' <b>",
    'two\nlines\tand\u0007bell',
    '😀'.repeat(3),
  ]

  const texts = await textsOf(world, api, {
    message: body('[{{code}}] {{unclosed'),
    audience: adhoc(...values.map((code, i) => ({ to: phone(700 + i), first_name: 'Ada', variables: { code } }))),
  })

  assert.deepEqual(
    texts,
    values.map((value) => `[${value}] {{unclosed`),
  )
})

test('a text that is empty or too long after rendering fails only its recipient', async (t) => {
  const { world, api } = await startTest(t)

  const texts = await textsOf(world, api, {
    message: body('{{code}} {{first_name}}'),
    audience: adhoc(
      { to: phone(700), variables: { code: 'A' } },
      { to: phone(701) },
      { to: phone(702), first_name: ' ' },
      { to: phone(703), variables: { code: 'x'.repeat(1600) } },
      { to: phone(704), variables: { code: 'x'.repeat(500_000) } },
      { to: phone(705), first_name: 'Ada' },
    ),
  })

  assert.deepEqual(texts, [
    'A ',
    'parameter_invalid',
    'parameter_invalid',
    'parameter_invalid',
    'parameter_invalid',
    ' Ada',
  ])
})

test('URLs may contain tags, and an invalid URL fails only its recipient', async (t) => {
  const { world, api } = await startTest(t)
  const cta_url = { body: { text: 'Look' }, action: { parameters: { display_text: 'Open', url: '{{link}}' } } }
  const saved = await api.post('/v1/campaigns', {
    ...spring,
    channel: 'ch_test_whatsapp',
    message: { type: 'cta_url', cta_url },
    audience: adhoc(
      { to: phone(700), variables: { link: 'https://example.com/a?b=c' } },
      { to: phone(701), variables: { link: 'javascript:alert(1)' } },
    ),
    launch: true,
  })
  assert.equal(saved.status, 201, JSON.stringify(saved.body))

  const [good, bad] = await finish(world, api, saved.body.id)

  assert.equal(
    (await api.get(`/v1/messages/${good!.message_id}`)).body.content.cta_url.action.parameters.url,
    'https://example.com/a?b=c',
  )
  assert.deepEqual([bad!.status, bad!.error?.code], ['failed', 'parameter_invalid'])
})

test('an empty template parameter fails its recipient', async (t) => {
  const { world, api } = await startTest(t)
  const saved = await api.post('/v1/campaigns', {
    ...spring,
    channel: 'ch_test_whatsapp',
    message: {
      type: 'template',
      template: {
        name: 'order_update',
        language: { code: 'en_US' },
        components: [{ type: 'body', parameters: [{ type: 'text', text: '{{first_name}}' }] }],
      },
    },
    audience: adhoc({ to: phone(700), first_name: 'Ada' }, { to: phone(701) }),
    launch: true,
  })
  assert.equal(saved.status, 201, JSON.stringify(saved.body))

  const [filled, empty] = await finish(world, api, saved.body.id)

  assert.notEqual(filled!.message_id, null)
  assert.deepEqual([empty!.status, empty!.error?.code, empty!.message_id], ['failed', 'parameter_invalid', null])
})

test("a test message is an API message, rendered as for the first recipient with the contact's data", async (t) => {
  const { api } = await startTest(t)
  await api.post('/v1/contacts', { phone: phone(799), first_name: 'Tess', attributes: { city: 'Graz' } })
  const message = body('Hi {{first_name}} of {{attributes.city}}: {{code}}€')
  const audience = adhoc({ to: phone(700), variables: { code: 'A1' } }, { to: phone(701), variables: { code: 'B2' } })
  const { id, ...before } = (await api.post('/v1/campaigns', { ...spring, message, audience })).body

  const sent = await api.post(`/v1/campaigns/${id}/test`, { to: phone(799) })
  const stranger = await api.post(`/v1/campaigns/${id}/test`, { to: phone(798) })

  assert.deepEqual(
    [sent.status, sent.body.status, sent.body.content.text.body],
    [202, 'queued', 'Hi Tess of Graz: A1€'],
  )
  assert.deepEqual(
    [sent.body.origin.type, sent.body.priority, sent.body.segments, sent.body.encoding],
    ['api', 'normal', 1, 'gsm7'],
  )
  assert.deepEqual([stranger.status, stranger.body.content.text.body], [202, 'Hi  of : A1€'])
  assert.deepEqual((await api.get(`/v1/campaigns/${id}`)).body, { ...before, id })
})

test('a test message is validated like any message, with the paths of the campaign', async (t) => {
  const { api } = await startTest(t)
  const refusalOf = async (id: string, to: string) => {
    const { status, body: answer } = await api.post(`/v1/campaigns/${id}/test`, { to })
    return [status, answer.error.code, answer.error.param]
  }
  const saved = async (message: object, ...recipients: object[]) =>
    (await api.post('/v1/campaigns', { ...spring, message, audience: adhoc(...recipients) })).body.id
  const empty = await saved(body('{{first_name}}'), { to: phone(700) })
  const long = await saved(body('{{code}}'), { to: phone(700), variables: { code: 'x'.repeat(1601) } })
  const good = await saved(body('Hi'), { to: phone(700) })

  assert.deepEqual(await refusalOf(empty, phone(701)), [400, 'parameter_invalid', 'message.text.body'])
  assert.deepEqual(await refusalOf(long, phone(701)), [400, 'parameter_invalid', 'message.text.body'])
  assert.deepEqual(await refusalOf(good, 'nobody'), [400, 'parameter_invalid', 'to'])
  assert.deepEqual(await refusalOf(good, '+15005550004'), [422, 'recipient_blocked', undefined])
  assert.deepEqual(await refusalOf('cmp_nobodys', phone(701)), [404, 'resource_missing', undefined])
})

test('a duplicate is a draft named as a copy, which needs a launch and consent of its own', async (t) => {
  const { world, api } = await startTest(t)
  const schedule = {
    send_at: '2100-01-01T00:00:00Z',
    timezone: 'Europe/Vienna',
    send_window: { start: '09:00', end: '18:00' },
    recipient_timezone: true,
  }
  const audience = adhoc({ to: phone(700), variables: { code: 'A1' } })
  const more = {
    message: body('{{code}}'),
    audience,
    schedule,
    merge_fallbacks: { code: 'none' },
    require_opt_in: true,
  }
  const first = (await api.post('/v1/campaigns', { ...spring, ...more, name: `${'😀'.repeat(119)} ` })).body
  await api.post(`/v1/campaigns/${first.id}/cancel`)
  await world.clock.advance(1000)

  const copy = await api.post(`/v1/campaigns/${first.id}/duplicate`)
  const named = await api.post(`/v1/campaigns/${first.id}/duplicate`, { name: 'Summer sale' })

  assert.equal(copy.status, 201)
  const { id, name, created_at } = copy.body
  assert.notEqual(id, first.id)
  assert.notEqual(created_at, first.created_at)
  assert.equal(name, `${'😀'.repeat(113)} (copy)`)
  assert.deepEqual(copy.body, {
    ...first,
    id,
    name,
    created_at,
    consent_declared: false,
    schedule: { ...first.schedule, send_at: null },
  })
  assert.equal(named.body.name, 'Summer sale')
})

test('a duplicate for failed recipients contains only them, and needs neither list nor segment', async (t) => {
  const { world, api } = await startTest(t)
  const list = (await api.post('/v1/contact_lists', { name: 'Friends' })).body.id
  const failing = ['+15005550001', '+15005550002']
  const contacts: string[] = []
  for (const to of [...failing, phone(700)])
    contacts.push((await api.post('/v1/contacts', { phone: to, first_name: 'Ada' })).body.id)
  await api.post(`/v1/contact_lists/${list}/members`, { contacts })
  const campaign = (
    await api.post('/v1/campaigns', {
      ...spring,
      message: body('Hi {{first_name}}'),
      audience: { type: 'list', list_id: list },
      launch: true,
    })
  ).body
  const early = await api.post(`/v1/campaigns/${campaign.id}/duplicate`, { recipients: 'failed' })
  await finish(world, api, campaign.id)
  await world.settle('dispatch', 'callbacks', 'project-campaigns')
  await api.delete(`/v1/contact_lists/${list}`)

  const failed = await api.post(`/v1/campaigns/${campaign.id}/duplicate`, { recipients: 'failed' })
  const all = await api.post(`/v1/campaigns/${campaign.id}/duplicate`, { recipients: 'all' })

  assert.deepEqual([early.status, early.body.error.code], [409, 'campaign_state_invalid'])
  assert.deepEqual([all.status, all.body.error.param], [404, 'audience.list_id'])
  assert.equal(failed.status, 201, JSON.stringify(failed.body))
  assert.equal(failed.body.audience.type, 'adhoc')
  const recipients: string[] = failed.body.audience.recipients.map(({ to }: { to: string }) => to)
  assert.deepEqual(new Set(recipients), new Set(failing))
  await api.post(`/v1/campaigns/${failed.body.id}/launch`, { consent_declared: true })
  const again = await finish(world, api, failed.body.id)
  assert.equal((await api.get(`/v1/messages/${again[0]!.message_id}`)).body.content.text.body, 'Hi Ada')
})

test('a duplicate for more failed recipients than an ad-hoc audience allows is made in several requests', async (t) => {
  const { world, api } = await startTest(t)
  const campaign = (
    await api.post('/v1/campaigns', {
      ...spring,
      message: body('Hi'),
      audience: adhoc({ to: '+15005550001' }),
      launch: true,
    })
  ).body
  await finish(world, api, campaign.id)
  await world.settle('project-campaigns')
  await world.pool`
    insert into campaign_recipients (account_id, mode, campaign_id, n, "to", address, status)
    select account_id, mode, campaign_id, i, '+4915' || (100000000 + i), '+4915' || (100000000 + i), 'failed' from campaign_recipients, generate_series(2, 10002) i`
  const duplicate = (more: object) =>
    api.post(`/v1/campaigns/${campaign.id}/duplicate`, { recipients: 'failed', ...more })

  const refused = await duplicate({})
  const [first, rest] = [await duplicate({ starting_after: '0' }), await duplicate({ starting_after: '10000' })]
  const none = await duplicate({ starting_after: '10002' })

  assert.deepEqual([refused.status, refused.body.error.code], [400, 'campaign_limit_exceeded'])
  assert.match(refused.body.error.message, /`starting_after` "0", then "10000"/)
  assert.deepEqual(
    [first.status, first.body.audience.recipients_count, first.body.audience.recipients[0].to],
    [201, 10_000, '+15005550001'],
  )
  assert.deepEqual(
    rest.body.audience.recipients.map(({ to }: { to: string }) => to),
    ['+4915100010001', '+4915100010002'],
  )
  assert.deepEqual([none.status, none.body.error.code], [409, 'campaign_state_invalid'])
})

test('a duplicate for failed recipients keeps variables that none of them has', async (t) => {
  const { world, api } = await startTest(t)
  const audience = adhoc(
    { to: phone(700), variables: { code: 'A1' } },
    { to: '+15005550001', first_name: 'Ada', variables: { other: 'x' } },
  )
  const { id } = (
    await api.post('/v1/campaigns', { ...spring, message: body('Hi {{first_name}}: {{code}}'), audience, launch: true })
  ).body
  await finish(world, api, id)

  const failed = await api.post(`/v1/campaigns/${id}/duplicate`, { recipients: 'failed' })

  assert.equal(failed.status, 201, JSON.stringify(failed.body))
  assert.deepEqual(failed.body.audience.recipients, [
    { to: '+15005550001', first_name: 'Ada', last_name: null, variables: { other: 'x', code: null } },
  ])
})
