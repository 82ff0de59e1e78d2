import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  adapter,
  callback,
  changes,
  connection,
  graph,
  id,
  itemsOf,
  statusTime,
} from '../../../test/support/whatsapp-channel.ts'
import { validateInboundContent } from '../../api/content/validate.ts'

// oxlint-disable-next-line typescript/no-explicit-any
const samples = (name: string): any[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'samples', `${name}.json`), 'utf8'))

for (const { name, message: said, report } of samples('inbound'))
  test(`inbound: ${name}`, () => {
    const value = {
      contacts: [{ profile: { name: 'Ada' }, wa_id: '4915112345678' }],
      messages: [{ id: 'wamid.IN', from: '4915112345678', timestamp: '1750030073', ...said }],
    }

    const [read] = itemsOf(graph.messages(value))

    assert.deepEqual(read, {
      kind: 'inbound',
      provider_id: 'wamid.IN',
      from: '+4915112345678',
      profile_name: 'Ada',
      reply_to: null,
      ...report,
    })
    if (report.type !== 'attachments') assert.deepEqual(validateInboundContent(report.type, report.content), [])
  })

test('a sender without a number has the business-scoped id, and is skipped without either', () => {
  const contacts = [{ profile: { name: 'Ada', username: 'ada' }, user_id: 'DE.1349' }]
  const say = (more: object) =>
    graph.messages({ contacts, messages: [{ id: 'wamid.IN', type: 'text', text: { body: 'Hi' }, ...more }] })

  const items = itemsOf(
    say({ from_user_id: 'DE.1349' }),
    say({ from: '4915112345678', from_user_id: 'DE.1349' }),
    graph.messages({ messages: [{ id: 'x', type: 'text' }] }),
  )

  assert.deepEqual(
    items.map((report) => (report.kind === 'inbound' ? [report.from, report.profile_name] : report)),
    [
      ['DE.1349', 'Ada'],
      ['+4915112345678', 'Ada'],
    ],
  )
})

test('statuses are receipts with our id, the part, and the reason of a failure', () => {
  const status = (said: string, more: object = {}) =>
    graph.messages({
      statuses: [{ id: 'wamid.1', status: said, timestamp: '1750030073', recipient_id: '4915112345678', ...more }],
    })
  const error = { code: 131049, title: 'Not delivered', error_data: { details: 'To keep the ecosystem healthy.' } }

  const items = itemsOf(
    status('sent', { biz_opaque_callback_data: id }),
    status('delivered', { biz_opaque_callback_data: `${id}/2/3` }),
    ...['/1', '/0/3', '/4/3', '/1/1', '/1/3/5', '/001/3', '/-1/3', '/1e1/99'].map((odd) =>
      status('delivered', { biz_opaque_callback_data: `${id}${odd}` }),
    ),
    status('delivered', { biz_opaque_callback_data: { id } }),
    status('read'),
    status('played'),
    status('deleted'),
    status('failed', { errors: [error] }),
    status('failed', { errors: [] }),
  )

  const receipt = (transition: string, more: object) => ({
    kind: 'delivery_receipt',
    provider_id: 'wamid.1',
    transition,
    ...more,
  })
  assert.deepEqual(items, [
    receipt('accept', { message_id: id }),
    receipt('deliver', { message_id: id, part: { number: 2, total: 3 } }),
    ...Array.from({ length: 9 }, () => receipt('deliver', {})),
    receipt('open', {}),
    receipt('open', {}),
    receipt('fail', {
      error: {
        code: 'policy_violation',
        message:
          'WhatsApp did not deliver it, to limit the number of marketing messages to this recipient. Do not send again today. WhatsApp says: To keep the ecosystem healthy.',
        provider_code: '131049',
      },
    }),
    receipt('fail', {
      error: {
        code: 'provider_error',
        message: 'WhatsApp could not deliver the message and gives no reason.',
        provider_code: null,
      },
    }),
  ])
})

test('a marketing stop comes from a failure or a preference, and its end from a preference', () => {
  const status = {
    id: 'wamid.1',
    status: 'failed',
    recipient_id: '4915112345678',
    errors: [{ code: 131050, title: 'Stopped' }],
  }
  const preference = (value: string) => ({
    ...graph.messages({
      user_preferences: [{ wa_id: '4915112345678', category: 'marketing_messages', value, timestamp: 1750030073 }],
    }),
    field: 'user_preferences',
  })

  const items = itemsOf(
    graph.messages({ statuses: [status] }),
    preference('stop'),
    preference('resume'),
    preference('perhaps'),
  )

  assert.deepEqual(
    items.map((report) => [
      report.kind,
      report.kind === 'preference'
        ? [report.from, report.marketing]
        : (report as { error?: { code: string } }).error?.code,
    ]),
    [
      ['delivery_receipt', 'recipient_blocked'],
      ['preference', ['+4915112345678', 'stop']],
      ['preference', ['+4915112345678', 'stop']],
      ['preference', ['+4915112345678', 'resume']],
    ],
  )
})

test('a preference has its time in seconds or milliseconds, if it is valid', () => {
  const preference = (timestamp: unknown) => ({
    ...graph.messages({
      user_preferences: [{ wa_id: '4915112345678', category: 'marketing_messages', value: 'stop', timestamp }],
    }),
    field: 'user_preferences',
  })

  const items = itemsOf(preference('1750030073'), preference(1750030073000), preference('soon'))

  assert.deepEqual(
    items.map((report) => (report.kind === 'preference' ? report.occurred_at : report)),
    [statusTime, statusTime, undefined],
  )
})

test('changes of another number or account are ignored with a remark', () => {
  const other = graph.messages(
    { messages: [{ id: 'wamid.IN', from: '4915112345678', type: 'text', text: { body: 'Hi' } }] },
    '999',
  )
  const template = { field: 'message_template_status_update', value: { event: 'APPROVED' } }
  const account = (value: object) => ({ field: 'account_update', value })
  const body = changes([
    other,
    template,
    template,
    account({ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } }),
    { field: 'phone_number_quality_update', value: { event: 'FLAGGED' } },
    { field: 'messages' },
  ])

  const ours = adapter.receiveCallback!(callback(body), connection)!
  const foreign = adapter.receiveCallback!(
    callback(changes([template, account({ event: 'ACCOUNT_DELETED' })], '1')),
    connection,
  )!
  const nonsense = [
    'nonsense',
    '[]',
    '{"object":"page"}',
    '{"object":"whatsapp_business_account","entry":{"a":[]}}',
    '{"object":"whatsapp_business_account","entry":[{"changes":[7,null]}]}',
  ]

  assert.deepEqual(
    ours.items.map(({ kind }) => kind),
    ['templates', 'connection_status'],
  )
  assert.match(ours.ignored!, /another number.*FLAGGED.*no value/)
  assert.deepEqual(foreign.items, [])
  for (const body of nonsense) assert.deepEqual(adapter.receiveCallback!(callback(body), connection)!.items, [])
  assert.equal(adapter.receiveCallback!(callback(body, 'another secret'), connection), null)
})

test('remarks contain only names, events and codes, no personal data', () => {
  const person = { name: 'Erika Mustermann', phone: '+4915112345678', text: { body: 'My secret' } }
  const body = changes([
    { field: 'message_echoes', value: { event: 'ECHOED', message_echoes: [person] } },
    { field: 'Erika Mustermann', value: person },
    { field: 'history', value: { ...person, event: 'Erika Mustermann' } },
    { field: 'account_update', value: { ...person, event: 'VERIFIED_ACCOUNT' } },
    graph.messages({
      errors: [{ code: 131051, title: 'Unsupported: My secret', error_data: { details: '+4915112345678' } }],
    }),
    graph.messages({ errors: [{ code: 'My secret' }] }),
    graph.messages({ statuses: [{ id: 'wamid.1', status: 'My secret' }] }),
    graph.messages({}, '4915112345678'),
  ])

  const { ignored } = adapter.receiveCallback!(callback(body), connection)!

  assert.match(ignored!, /message_echoes: ECHOED.*history.*VERIFIED_ACCOUNT.*131051.*A status.*another number/)
  assert.doesNotMatch(ignored!, /Erika|4915112345678|secret/)
})
