/** Drafts of campaigns. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Answered } from '../support/api.ts'
import { approvedTemplate, whatsappWorld } from '../support/whatsapp-world.ts'
import { startWorld } from '../support/world.ts'

const spring = {
  name: 'Spring sale',
  channel: 'ch_test_sms',
  audience: { type: 'adhoc', recipients: [{ to: '+4915112345678', first_name: 'Ada', variables: { code: 'A1' } }] },
  message: { type: 'text', text: { body: 'Hello {{first_name}}, your code is {{code}}.' } },
}

test('a draft shows the given fields, and defaults for the rest', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()

  const created = await api.post('/v1/campaigns', spring)

  assert.equal(created.status, 201)
  const { id, created_at, ...shown } = created.body
  assert.match(id, /^cmp_/)
  assert.deepEqual(shown, {
    object: 'campaign',
    mode: 'test',
    name: 'Spring sale',
    channel_id: 'ch_test_sms',
    channel_type: 'sms',
    status: 'draft',
    pause_reason: null,
    failure_reason: null,
    audience: { type: 'adhoc', recipients_count: 1, save_as_contacts: false, recipients: spring.audience.recipients },
    message: spring.message,
    merge_fallbacks: {},
    require_opt_in: false,
    consent_declared: false,
    schedule: { send_at: null, timezone: 'UTC', send_window: null, recipient_timezone: false },
    throttle_per_second: 20,
    counters: {
      total: 0,
      queued: 0,
      sent: 0,
      delivered: 0,
      read: 0,
      failed: 0,
      skipped: 0,
      cancelled: 0,
      skip_reasons: {},
    },
    cost: { currency: 'USD', estimated_wallet_micros: 0, estimated_credits: 0, wallet_micros: 0, package_credits: 0 },
    launched_at: null,
    started_at: null,
    paused_at: null,
    completed_at: null,
    cancelled_at: null,
  })
  assert.deepEqual((await api.get(`/v1/campaigns/${id}`)).body, created.body)
  const { recipients: _, ...listed } = created.body.audience
  assert.deepEqual((await api.get('/v1/campaigns')).body.data, [{ ...created.body, audience: listed }])
  assert.ok(created_at !== null)
})

test('all failures of a campaign are reported at once', async (t) => {
  const { api } = await (await startWorld(t)).account()

  const refused = await api.post('/v1/campaigns', {
    ...spring,
    message: { type: 'text', text: { body: 'Hello {{nickname}} of {{attributes.city}}' } },
    merge_fallbacks: { nobody: 'x' },
  })

  assert.deepEqual([refused.status, refused.body.error.code], [400, 'parameter_invalid'])
  assert.deepEqual(
    refused.body.error.details.map(({ param, code }: { param: string; code: string }) => [param, code]),
    [
      ['message.text.body', 'unknown_merge_tag'],
      ['message.text.body', 'unknown_merge_tag'],
      ['merge_fallbacks.nobody', 'unknown_merge_tag'],
    ],
  )
})

test('a draft can be changed and deleted, and works as a cursor afterwards', async (t) => {
  const { api } = await (await startWorld(t)).account()
  const ids: string[] = []
  for (const name of ['one', 'two', 'three']) ids.push((await api.post('/v1/campaigns', { ...spring, name })).body.id)

  const changed = await api.patch(`/v1/campaigns/${ids[1]}`, {
    name: 'second',
    schedule: { send_window: { start: '22:00', end: '06:00' } },
  })
  const deleted = await api.delete(`/v1/campaigns/${ids[1]}`)

  assert.deepEqual(
    [changed.status, changed.body.name, changed.body.schedule.send_window],
    [200, 'second', { start: '22:00', end: '06:00' }],
  )
  assert.deepEqual(deleted.body, { id: ids[1], object: 'campaign', deleted: true })
  assert.equal((await api.get(`/v1/campaigns/${ids[1]}`)).body.error.code, 'resource_missing')
  assert.deepEqual(
    (await api.get(`/v1/campaigns?starting_after=${ids[1]}`)).body.data.map(({ id }: { id: string }) => id),
    [ids[0]],
  )
})

const offer = { category: 'MARKETING', components: [{ type: 'BODY', text: 'Hello {{1}}' }] }

async function startShop(t: TestContext) {
  const { connect, ...shop } = await whatsappWorld(t)
  shop.graph.templates.push(
    approvedTemplate('offer', { ...offer, id: '1' }),
    approvedTemplate('paused', { ...offer, id: '2', status: 'PAUSED' }),
  )
  return { ...shop, channel: (await connect()).body.id as string }
}

const templateMessage = (name: string, texts: readonly string[]) => ({
  type: 'template',
  template: {
    name,
    language: { code: 'en_US' },
    components: [{ type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) }],
  },
})

test('a campaign on a live WhatsApp channel needs an approved template with matching parameters', async (t) => {
  const { api, channel } = await startShop(t)
  const save = (message: object) => api.post('/v1/campaigns', { ...spring, channel, message })
  const template = (name: string, texts: readonly string[]) => save(templateMessage(name, texts))

  const answers = [
    await template('offer', ['{{first_name}}']),
    await template('paused', ['x']),
    await template('nothing', ['x']),
    await template('offer', []),
    await save(spring.message),
  ]

  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error?.code, body.error?.param]),
    [
      [201, undefined, undefined],
      [422, 'template_not_approved', 'message.template.name'],
      [422, 'template_not_approved', 'message.template.name'],
      [400, 'parameter_invalid', 'message.template.components'],
      [400, 'parameter_invalid', 'message.type'],
    ],
  )
})

test('creating and launching a campaign in one request looks its template up once', async (t) => {
  const { graph, api, channel } = await startShop(t)
  const before = graph.calls.length

  const message = templateMessage('offer', ['{{first_name}}'])
  const launched = await api.post('/v1/campaigns', {
    ...spring,
    channel,
    message,
    consent_declared: true,
    launch: true,
  })

  assert.deepEqual([launched.status, launched.body.status], [201, 'queued'])
  assert.equal(graph.calls.slice(before).filter((call) => call.endsWith('/message_templates')).length, 1)
})

test('creating and launching in one request checks consent first, then the channel, then the template', async (t) => {
  const { api, channel } = await startShop(t)
  const create = async (more: object) => {
    const { status, body } = await api.post('/v1/campaigns', {
      ...spring,
      channel,
      message: templateMessage('paused', ['x']),
      launch: true,
      ...more,
    })
    return [status, body.error?.code]
  }

  const undeclared = await create({ consent_declared: false })
  const unapproved = await create({ consent_declared: true })
  await api.patch(`/v1/channels/${channel}`, { status: 'disabled' })
  const disabled = await create({ consent_declared: true })

  assert.deepEqual(undeclared, [400, 'consent_required'])
  assert.deepEqual(unapproved, [422, 'template_not_approved'])
  assert.deepEqual(disabled, [422, 'channel_not_connected'])
  assert.deepEqual((await api.get('/v1/campaigns')).body.data, [])
})

test('saving and launching look the template up at the provider, and use our copy if that fails', async (t) => {
  const { graph, api, channel } = await startShop(t)
  const save = () =>
    api.post('/v1/campaigns', {
      ...spring,
      channel,
      message: templateMessage('offer', ['{{first_name}}']),
      consent_declared: true,
    })
  const codeOf = ({ status, body }: Answered) => [status, body.error?.code]
  const template = graph.templates.find(({ name }) => name === 'offer')!
  const { id } = (await save()).body

  template.status = 'PAUSED'
  const paused = [
    await save(),
    await api.post(`/v1/campaigns/${id}/launch`),
    await api.patch(`/v1/campaigns/${id}`, { name: 'Another' }),
  ]
  template.status = 'APPROVED'
  const approved = await save()
  graph.templates.splice(graph.templates.indexOf(template), 1)
  const gone = await save()
  const listed = (await api.get(`/v1/channels/${channel}/templates`)).body.data.map(
    ({ name }: { name: string }) => name,
  )
  graph.templates.push(template)
  const again = await save()
  graph.trouble('message_templates', 'gateway', 'gateway')
  const unasked = [await save(), await api.post(`/v1/campaigns/${id}/launch`)]

  assert.deepEqual(paused.map(codeOf), Array(3).fill([422, 'template_not_approved']))
  assert.equal(approved.status, 201)
  assert.deepEqual(codeOf(gone), [422, 'template_not_approved'])
  assert.deepEqual(listed, ['paused'])
  assert.equal(again.status, 201)
  assert.deepEqual(
    unasked.map(({ status }) => status),
    [201, 200],
  )
})
