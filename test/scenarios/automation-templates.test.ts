/** Automations with templates on a live WhatsApp channel (behaviour: integrations 5.2, 5.5). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { whatsappWorld } from '../support/whatsapp-world.ts'

async function startShop(t: TestContext) {
  const { connect, graph, world, api } = await whatsappWorld(t)
  const offer = {
    components: [{ type: 'BODY', text: 'Hello {{1}}, come in' }],
    parameter_format: 'POSITIONAL',
    language: 'en_US',
    category: 'UTILITY',
  }
  graph.templates.push(
    { ...offer, id: '1', name: 'shipped', status: 'APPROVED' },
    { ...offer, id: '2', name: 'stopped', status: 'PAUSED' },
  )
  const channel_id = (await connect()).body.id as string
  const source_id = (await api.post('/v1/integration_sources', { platform: 'custom', external_id: 'shop' })).body
    .id as string
  const given = { name: 'A', source_id, event_type: 'order.shipped', channel_id }
  const save = async (message: object, more: object = {}) =>
    await api.post('/v1/automations', { ...given, message, ...more })
  return { graph, world, api, save }
}

const template = (name: string, ...texts: string[]) => ({
  type: 'template',
  template: {
    name,
    language: { code: 'en_US' },
    components: [{ type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) }],
  },
})

test('an automation on a live WhatsApp channel needs an approved template with matching parameters', async (t) => {
  const { api, save } = await startShop(t)

  const answers = [
    await save(template('shipped', '{{data.order.number}}')),
    await save(template('stopped', 'x')),
    await save(template('nothing', 'x')),
    await save(template('shipped')),
    await save({ type: 'text', text: { body: 'x' } }),
  ]
  const simulated = await api.post(`/v1/automations/${answers[0]!.body.id}/simulate`, {
    event: { type: 'order.shipped', customer: { phone: '+4915112345678' }, data: { order: { number: 1001 } } },
  })

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
  assert.deepEqual(
    [simulated.body.status, simulated.body.reason, simulated.body.message],
    ['scheduled', null, template('shipped', '1001')],
  )
})

test('an automation whose template lost its approval can be paused and renamed, but not activated', async (t) => {
  const { graph, api, save } = await startShop(t)
  const { id } = (await save(template('shipped', 'x'))).body
  const change = async (body: object) => {
    const changed = await api.patch(`/v1/automations/${id}`, body)
    return [changed.status, changed.body.error?.code ?? changed.body.status]
  }

  graph.templates.find(({ name }) => name === 'shipped')!.status = 'PAUSED'

  assert.deepEqual(await change({ name: 'B', delay_seconds: 60 }), [200, 'active'])
  assert.deepEqual(await change({ message: template('shipped', 'y') }), [422, 'template_not_approved'])
  assert.deepEqual(await change({ status: 'paused' }), [200, 'paused'])
  assert.deepEqual(await change({ status: 'active' }), [422, 'template_not_approved'])
  graph.templates.find(({ name }) => name === 'shipped')!.status = 'APPROVED'
  assert.deepEqual(await change({ status: 'active' }), [200, 'active'])
})
