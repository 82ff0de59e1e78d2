/** Parameters of template messages are checked against the template (behaviour: channels 6.3, 6.6; campaigns 3.4). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approvedTemplate, whatsappWorld } from '../support/whatsapp-world.ts'

const template = (name: string, components: readonly object[], more: object = {}) =>
  approvedTemplate(name, { components: [{ type: 'BODY', text: 'Hello' }, ...components], ...more })
const buttons = [
  { type: 'QUICK_REPLY', text: 'Yes' },
  { type: 'URL', text: 'See', url: 'https://example.com/{{1}}' },
]
const templates = [
  template('named', [], { parameter_format: 'NAMED', components: [{ type: 'BODY', text: 'Hi {{first_name}}' }] }),
  template('numbered', [], { components: [{ type: 'BODY', text: 'Hi {{1}}' }] }),
  template('picture', [{ type: 'HEADER', format: 'IMAGE' }]),
  template('place', [{ type: 'HEADER', format: 'LOCATION' }]),
  template('headline', [{ type: 'HEADER', format: 'TEXT', text: 'For {{1}}' }]),
  template('plain', []),
  template('link', [{ type: 'BUTTONS', buttons }]),
  template('coupon', [{ type: 'BUTTONS', buttons: [{ type: 'COPY_CODE', text: 'Copy offer code' }] }]),
]

const text = { type: 'text', text: '{{first_name}}' }
const named = (parameter_name: string) => ({ ...text, parameter_name })
const header = (...parameters: object[]) => ({ type: 'header', parameters })
const body = (...parameters: object[]) => ({ type: 'body', parameters })
const button = (sub_type: string, index: number | string, ...parameters: object[]) => ({
  type: 'button',
  sub_type,
  index,
  parameters,
})

const fitting: [string, readonly object[]][] = [
  ['named', [body(named('first_name'))]],
  ['numbered', [body(text)]],
  ['picture', [header({ type: 'image', image: { link: 'https://example.com/{{first_name}}.png' } })]],
  [
    'place',
    [header({ type: 'location', location: { latitude: 52.5, longitude: 13.4, name: 'Shop', address: 'Street 1' } })],
  ],
  ['headline', [header(text)]],
  ['plain', []],
  ['link', [button('url', 1, text)]],
  ['link', [button('url', '1', text)]],
  ['coupon', [button('copy_code', 0, { type: 'coupon_code', coupon_code: '{{first_name}}' })]],
]
const unfitting: [string, readonly object[]][] = [
  ['named', [body(text)]],
  ['named', [body(named('last_name'))]],
  ['numbered', [body(named('first_name'))]],
  ['picture', []],
  ['picture', [header()]],
  ['picture', [header(text)]],
  ['place', []],
  ['headline', []],
  ['plain', [header(text)]],
  ['link', []],
  ['link', [button('url', 0, text)]],
  ['coupon', []],
  ['coupon', [button('copy_code', 0)]],
]

test('parameters that do not match header, placeholders or buttons are refused before a charge, and merge tags match', async (t) => {
  const { graph, world, api, connect } = await whatsappWorld(t)
  graph.templates.push(...templates)
  const channel = (await connect()).body.id
  const asked = async ([name, components]: [string, readonly object[]]) => {
    const message = { type: 'template', template: { name, language: { code: 'en_US' }, components } }
    const to = '+4915112345678'
    const sent = await api.post('/v1/messages', { channel, to, ...message })
    const saved = await api.post('/v1/campaigns', {
      name,
      channel,
      audience: { type: 'adhoc', recipients: [{ to, first_name: 'Ada' }] },
      message,
    })
    return [sent, saved].flatMap(({ status, body }) => [status, body.error?.code, body.error?.param])
  }

  for (const one of fitting)
    assert.deepEqual(await asked(one), [202, undefined, undefined, 201, undefined, undefined], JSON.stringify(one))
  for (const one of unfitting)
    assert.deepEqual(
      await asked(one),
      [422, 'upstream_rejected', 'template.components', 400, 'parameter_invalid', 'message.template.components'],
      JSON.stringify(one),
    )
  await world.invariants()
})
