import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { adapterSuite } from '../../../../../test/kit/adapter-suite.ts'
import { fakeClock } from '../../../../../test/kit/clock.ts'
import { providerTools } from '../../../../../test/kit/provider-tools.ts'
import { businessNumber, startWhatsapp, type Trouble } from '../../../../../test/kit/simulators/whatsapp.ts'
import { until } from '../../../../../test/kit/waiting.ts'
import { wrongMessage } from '../../../../../test/kit/simulators/whatsapp-messages.ts'
import { validateContent, validateInboundContent } from '../../../../contract/content/validate.ts'
import { capabilitiesOf } from '../../../../contract/resources/channel.ts'
import type { Callback, Connection, OutboundMessage, Report } from '../../adapter.ts'
import { callsOf } from './contents.ts'
import { whatsappCloud } from './whatsapp-cloud.ts'

// oxlint-disable-next-line typescript/no-explicit-any
const samples = (name: string): any[] => JSON.parse(readFileSync(join(import.meta.dirname, 'samples', `${name}.json`), 'utf8'))

const graph = await startWhatsapp()
after(() => graph.close())
const clock = fakeClock()
const tools = providerTools({ clock, url: graph.url })
after(() => tools.http.close())
const adapter = whatsappCloud.adapter(tools)

const connection: Connection = {
  channel_id: 'ch_1',
  type: 'whatsapp',
  identifier: businessNumber,
  credentials: graph.credentials,
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
}
const never = new AbortController().signal
const id = 'msg_00000000000000000000000001'
const message = (given: Partial<OutboundMessage> = {}): OutboundMessage => ({
  id,
  channel_id: 'ch_1',
  to: '+4915112345678',
  from: businessNumber,
  type: 'text',
  content: { body: 'Hi' },
  reply_to: null,
  attempt: 1,
  handed_over_at: null,
  already_accepted: [],
  expires_at: null,
  ...given,
})
const callback = (body: string | Uint8Array, secret = graph.credentials.app_secret): Callback => ({
  method: 'POST',
  url: connection.webhook_url,
  query: {},
  headers: { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` },
  body: Buffer.from(body),
})
const changes = (given: readonly object[], account = graph.credentials.business_account_id) =>
  JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: account, changes: given }] })
const statusTime = '2025-06-15T23:27:53.000Z'
const refusals: readonly (readonly [string, Trouble])[] = [
  ['+4915100000190', { error: 131026 }],
  ['+4915100000429', { error: 130429, status: 429 }],
  ['+4915100000500', { error: 131000, status: 500 }],
  ['+4915100000502', 'gateway'],
]
const reportsOf = (...given: readonly object[]): readonly Report[] => adapter.receive!(callback(changes(given)), connection)!.reports

const inboundText = { id: 'wamid.IN', from: '4915112345678', timestamp: '1750030073', type: 'text', text: { body: 'Hello' }, context: { id: 'wamid.OURS' } }
const failed = { id: 'wamid.2', status: 'failed', timestamp: '1750030073', recipient_id: '4915112345678', errors: [{ code: 131050, title: 'Stopped' }] }
const read = { id: 'wamid.1', status: 'read', timestamp: '1750030073', recipient_id: '4915112345678', biz_opaque_callback_data: id }
const sign = (call: Callback): Callback => ({ ...callback(Buffer.from(call.body)), method: call.method, url: call.url, query: call.query })

adapterSuite(whatsappCloud, async (t) => {
  const own = await startWhatsapp()
  t.after(() => own.close())
  for (const [to, trouble] of refusals) own.refuse(to, trouble)
  own.templates.push(...['offer', 'offer_2'].map((name) => ({ id: name, name, language: 'en_US', status: 'APPROVED', category: 'UTILITY', components: [] })))
  own.files.set('77', { mime_type: 'image/jpeg', body: Buffer.from('a picture') })
  return {
    tools: providerTools({ url: own.url }),
    connection,
    wrongConnection: { ...connection, credentials: { ...graph.credentials, access_token: 'another' } },
    outcomes: {
      accepted: { to: '+4915112345678' },
      refused: { to: '+4915100000190', expected: { code: 'provider_error', provider_code: '131026' } },
      throttled: { to: '+4915100000429', expected: { provider_code: '130429' } },
      unavailable: { to: '+4915100000500', expected: { provider_code: '131000' } },
      unknown: { to: '+4915100000502' },
    },
    several: {
      message: {
        to: '+4915112345678',
        type: 'attachments',
        content: ['a', 'b', 'c'].map((name) => ({ type: 'image', url: `https://example.com/${name}.jpg` })),
      },
      count: 3,
      breakAfterFirst: (how) => own.trouble('/messages', 'none', how === 'later' ? { error: 130429, status: 429 } : { error: 131053 }),
      taken: () => own.sent.length,
    },
    hostile: (url) => ({ tools: providerTools({ url }), connection }),
    template: 'offer',
    media: {
      kept: { id: '77' },
      gone: { 'an id that WhatsApp does not know any more': { id: '78' } },
      passing: {
        'a token that has expired': () => own.trouble('/77', { error: 190, status: 401 }),
        trouble: () => own.trouble('/77', { error: 131000, status: 500 }),
        'something else that answers': () => own.trouble('/77', 'gateway'),
      },
    },
    callbacks: {
      proof: 'content',
      sign,
      samples: [
        {
          name: 'receipts and a stop of marketing',
          call: callback(changes([graph.messages({ statuses: [read, failed] })])),
          reports: [
            { kind: 'receipt', provider_id: 'wamid.1', transition: 'open', message_id: id },
            {
              kind: 'receipt',
              provider_id: 'wamid.2',
              transition: 'fail',
              error: {
                code: 'recipient_blocked',
                message: 'The recipient has stopped marketing messages of this account. WhatsApp says: Stopped',
                provider_code: '131050',
              },
            },
            { kind: 'preference', provider_id: 'wamid.2', from: '+4915112345678', marketing: 'stop', occurred_at: statusTime },
          ],
        },
        {
          name: 'a message that came in',
          call: callback(changes([graph.messages({ contacts: [{ profile: { name: 'Ada' }, wa_id: '4915112345678' }], messages: [inboundText] })])),
          reports: [
            {
              kind: 'inbound',
              provider_id: 'wamid.IN',
              from: '+4915112345678',
              profile_name: 'Ada',
              type: 'text',
              content: { body: 'Hello' },
              reply_to: 'wamid.OURS',
            },
          ],
        },
        {
          name: 'a template that changed',
          call: callback(changes([{ field: 'message_template_status_update', value: { event: 'PAUSED', message_template_id: 1 } }])),
          reports: [{ kind: 'templates', provider_id: 'templates' }],
        },
        {
          name: 'an account that was disabled',
          call: callback(changes([{ field: 'account_update', value: { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } } }])),
          reports: [
            {
              kind: 'link',
              provider_id: 'account DISABLED_UPDATE',
              connected: false,
              message: 'The WhatsApp Business account was disabled. Read why in WhatsApp Manager.',
            },
          ],
        },
      ],
    },
  }
})

const outbound = samples('outbound')

for (const { name, type, content, wire, to, reply_to } of outbound)
  test(`goes out as WhatsApp wants it: ${name}`, () => {
    const calls = callsOf(message({ type, content, to: to ?? '+4915112345678', reply_to: reply_to ?? null }))

    const common = { messaging_product: 'whatsapp', recipient_type: 'individual', biz_opaque_callback_data: id }
    const expected = wire.map((own: { recipient?: string }) => ({ ...common, ...(own.recipient === undefined ? { to: '4915112345678' } : {}), ...own }))
    assert.deepEqual(calls, expected)
    assert.deepEqual(
      calls.map(wrongMessage),
      calls.map(() => null),
    )
    assert.deepEqual(validateContent(type, content, { channel_type: 'whatsapp' }), [])
  })

test('every type that a whatsapp channel carries has a sample', () => {
  const missing = capabilitiesOf.whatsapp.filter((type) => !outbound.some((sample) => sample.type === type))

  assert.deepEqual(missing, [])
})

for (const { name, message: said, report } of samples('inbound'))
  test(`comes in: ${name}`, () => {
    const value = {
      contacts: [{ profile: { name: 'Ada' }, wa_id: '4915112345678' }],
      messages: [{ id: 'wamid.IN', from: '4915112345678', timestamp: '1750030073', ...said }],
    }

    const [read] = reportsOf(graph.messages(value))

    assert.deepEqual(read, { kind: 'inbound', provider_id: 'wamid.IN', from: '+4915112345678', profile_name: 'Ada', reply_to: null, ...report })
    if (report.type !== 'attachments') assert.deepEqual(validateInboundContent(report.type, report.content), [])
  })

test('somebody without a number is told by the business-scoped id, and without either not at all', () => {
  const contacts = [{ profile: { name: 'Ada', username: 'ada' }, user_id: 'DE.1349' }]
  const say = (more: object) => graph.messages({ contacts, messages: [{ id: 'wamid.IN', type: 'text', text: { body: 'Hi' }, ...more }] })

  const reports = reportsOf(
    say({ from_user_id: 'DE.1349' }),
    say({ from: '4915112345678', from_user_id: 'DE.1349' }),
    graph.messages({ messages: [{ id: 'x', type: 'text' }] }),
  )

  assert.deepEqual(
    reports.map((report) => (report.kind === 'inbound' ? [report.from, report.profile_name] : report)),
    [
      ['DE.1349', 'Ada'],
      ['+4915112345678', 'Ada'],
    ],
  )
})

test('statuses are receipts: our id where it is whole, and a failure with its meaning', () => {
  const status = (said: string, more: object = {}) =>
    graph.messages({ statuses: [{ id: 'wamid.1', status: said, timestamp: '1750030073', recipient_id: '4915112345678', ...more }] })
  const error = { code: 131049, title: 'Not delivered', error_data: { details: 'To keep the ecosystem healthy.' } }

  const reports = reportsOf(
    status('sent', { biz_opaque_callback_data: id }),
    status('delivered', { biz_opaque_callback_data: `${id}/1` }),
    status('read'),
    status('played'),
    status('deleted'),
    status('failed', { errors: [error] }),
    status('failed', { errors: [] }),
  )

  const receipt = (transition: string, more: object) => ({ kind: 'receipt', provider_id: 'wamid.1', transition, ...more })
  assert.deepEqual(reports, [
    receipt('accept', { message_id: id }),
    receipt('deliver', {}),
    receipt('open', {}),
    receipt('open', {}),
    receipt('fail', {
      error: {
        code: 'policy_violation',
        message:
          'WhatsApp withheld it to keep the number of marketing messages to this recipient low. Do not send again today. WhatsApp says: To keep the ecosystem healthy.',
        provider_code: '131049',
      },
    }),
    receipt('fail', {
      error: { code: 'provider_error', message: 'WhatsApp could not deliver it, and gives no reason.', provider_code: null },
    }),
  ])
})

test('a stop of marketing is told by a failure and by a preference, and its end by a preference', () => {
  const status = { id: 'wamid.1', status: 'failed', recipient_id: '4915112345678', errors: [{ code: 131050, title: 'Stopped' }] }
  const preference = (value: string) => ({
    ...graph.messages({ user_preferences: [{ wa_id: '4915112345678', category: 'marketing_messages', value, timestamp: 1750030073 }] }),
    field: 'user_preferences',
  })

  const reports = reportsOf(graph.messages({ statuses: [status] }), preference('stop'), preference('resume'), preference('perhaps'))

  assert.deepEqual(
    reports.map((report) => [
      report.kind,
      report.kind === 'preference' ? [report.from, report.marketing] : (report as { error?: { code: string } }).error?.code,
    ]),
    [
      ['receipt', 'recipient_blocked'],
      ['preference', ['+4915112345678', 'stop']],
      ['preference', ['+4915112345678', 'stop']],
      ['preference', ['+4915112345678', 'resume']],
    ],
  )
})

test('a preference has its time, in seconds or milliseconds, where it is one', () => {
  const preference = (timestamp: unknown) => ({
    ...graph.messages({ user_preferences: [{ wa_id: '4915112345678', category: 'marketing_messages', value: 'stop', timestamp }] }),
    field: 'user_preferences',
  })

  const reports = reportsOf(preference('1750030073'), preference(1750030073000), preference('soon'))

  assert.deepEqual(
    reports.map((report) => (report.kind === 'preference' ? report.occurred_at : report)),
    [statusTime, statusTime, undefined],
  )
})

test('what concerns another number or account, or nothing here, is set aside with a remark', () => {
  const other = graph.messages({ messages: [{ id: 'wamid.IN', from: '4915112345678', type: 'text', text: { body: 'Hi' } }] }, '999')
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

  const ours = adapter.receive!(callback(body), connection)!
  const foreign = adapter.receive!(callback(changes([template, account({ event: 'ACCOUNT_DELETED' })], '1')), connection)!
  const nonsense = [
    'nonsense',
    '[]',
    '{"object":"page"}',
    '{"object":"whatsapp_business_account","entry":{"a":[]}}',
    '{"object":"whatsapp_business_account","entry":[{"changes":[7,null]}]}',
  ]

  assert.deepEqual(
    ours.reports.map(({ kind }) => kind),
    ['templates', 'link'],
  )
  assert.match(ours.ignored!, /another number.*FLAGGED.*no value/)
  assert.deepEqual(foreign.reports, [])
  for (const body of nonsense) assert.deepEqual(adapter.receive!(callback(body), connection)!.reports, [])
  assert.equal(adapter.receive!(callback(body, 'another secret'), connection), null)
})

test('a remark, which is logged, tells names, events and codes, and nothing that people wrote or who they are', () => {
  const person = { name: 'Erika Mustermann', phone: '+4915112345678', text: { body: 'My secret' } }
  const body = changes([
    { field: 'message_echoes', value: { event: 'ECHOED', message_echoes: [person] } },
    { field: 'Erika Mustermann', value: person },
    { field: 'history', value: { ...person, event: 'Erika Mustermann' } },
    { field: 'account_update', value: { ...person, event: 'VERIFIED_ACCOUNT' } },
    graph.messages({ errors: [{ code: 131051, title: 'Unsupported: My secret', error_data: { details: '+4915112345678' } }] }),
    graph.messages({ errors: [{ code: 'My secret' }] }),
    graph.messages({ statuses: [{ id: 'wamid.1', status: 'My secret' }] }),
    graph.messages({}, '4915112345678'),
  ])

  const { ignored } = adapter.receive!(callback(body), connection)!

  assert.match(ignored!, /message_echoes: ECHOED.*history.*VERIFIED_ACCOUNT.*131051.*A status.*another number/)
  assert.doesNotMatch(ignored!, /Erika|4915112345678|secret/)
})

test('the handshake knows our word alone', () => {
  const shake = (query: Record<string, string>) => adapter.handshake!({ ...callback(''), method: 'GET', query }, connection)
  const right = { 'hub.mode': 'subscribe', 'hub.verify_token': 'our word', 'hub.challenge': '1158201444' }

  assert.equal(shake(right)!.body, '1158201444')
  assert.deepEqual([shake({ ...right, 'hub.verify_token': 'x' }), shake({ ...right, 'hub.mode': '' }), shake({})], [null, null, null])
})

const outcomes: readonly (readonly [Trouble, string, string?])[] = [
  [{ error: 190, status: 401 }, 'refused', 'channel_not_connected lost'],
  [{ error: 0, status: 401 }, 'refused', 'channel_not_connected lost'],
  [{ error: 200, status: 403 }, 'refused', 'channel_not_connected lost'],
  [{ error: 299, status: 403 }, 'refused', 'channel_not_connected lost'],
  [{ error: 100, subcode: 33 }, 'refused', 'channel_not_connected lost'],
  [{ error: 133010 }, 'refused', 'channel_not_connected lost'],
  [{ error: 131031 }, 'refused', 'policy_violation lost'],
  [{ error: 131047 }, 'refused', 'policy_violation'],
  [{ error: 131050 }, 'refused', 'recipient_blocked'],
  [{ error: 132001, status: 404 }, 'refused', 'provider_error'],
  [{ error: 999999 }, 'refused', 'provider_error'],
  [{ error: 999999, status: 503 }, 'unknown'],
  [{ error: 1, status: 500 }, 'unknown'],
  [{ error: 133004, status: 503 }, 'unavailable'],
  [{ error: 999999, status: 429 }, 'throttled'],
  [{ error: 131056 }, 'throttled', '4000'],
  [{ error: 131048 }, 'throttled', 'policy_violation'],
  [{ error: 131016, status: 500 }, 'unavailable'],
  ['cut', 'unknown'],
  ['huge', 'unknown'],
  ['nonsense', 'unknown'],
  ['no_id', 'unknown'],
  ['gateway', 'unknown'],
]

for (const [trouble, kind, more] of outcomes)
  test(`a hand-over that meets ${JSON.stringify(trouble)} is ${kind}`, async () => {
    graph.trouble('/messages', trouble)

    const outcome = await adapter.send!(message(), connection, never)

    const told =
      outcome.kind === 'refused'
        ? `${outcome.code}${outcome.channel_lost === true ? ' lost' : ''}`
        : outcome.kind === 'throttled'
          ? (outcome.if_lasting?.code ?? outcome.retry_after_ms?.toString())
          : undefined
    assert.deepEqual([outcome.kind, told], [kind, more])
  })

test('a hand-over that is given up while WhatsApp hangs may have been sent', async () => {
  graph.trouble('/messages', 'hang')
  const given = new AbortController()
  const calls = graph.calls.length
  const outcome = adapter.send!(message(), connection, given.signal)

  await until('the call to arrive', () => graph.calls.length > calls)
  given.abort()

  assert.equal((await outcome).kind, 'unknown')
})

test('of several attachments those that came through are not sent again when the rest is repeated', async () => {
  const content = ['a', 'b', 'c'].map((name) => ({ type: 'image', url: `https://example.com/${name}.jpg` }))
  const several = message({ id: 'msg_00000000000000000000000009', to: '+4915112340000', type: 'attachments', content })
  const links = () => graph.sent.filter(({ to }) => to === '4915112340000').map(({ image }) => image.link.at(-5))
  graph.trouble('/messages', { error: 131016, status: 500 })
  await adapter.send!(several, connection, never)
  const nothing = links()
  graph.trouble('/messages', 'none', { error: 130429, status: 429 })

  const outcome = await adapter.send!(several, connection, never)
  const already_accepted = outcome.kind === 'accepted' ? [] : (outcome.provider_ids ?? [])
  const again = await adapter.send!({ ...several, attempt: 2, already_accepted }, connection, never)

  assert.deepEqual([nothing, outcome.kind, again.kind], [[], 'throttled', 'accepted'])
  assert.equal(again.kind === 'accepted' && again.provider_ids.length, 3)
  assert.deepEqual(links(), ['a', 'b', 'c'])
})

test('all templates are read page by page, and one name alone when asked', async () => {
  const template = (n: number) => ({
    id: String(n),
    name: `offer_${n}`,
    language: 'en_US',
    status: 'APPROVED',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'Hi' }],
    rejected_reason: 'NONE',
  })
  graph.templates.push(...Array.from({ length: 450 }, (_, n) => template(n)), { id: 'x', language: 'en_US' })

  const all = await adapter.templates!(connection, never)
  const one = await adapter.templates!(connection, never, 'offer_1')
  const asked = graph.calls.filter((call) => call.endsWith('/message_templates')).length
  graph.trouble('/message_templates', 'nonsense', { error: 200, status: 403 })

  assert.deepEqual([all.length, asked], [450, 7])
  assert.deepEqual(
    one.map(({ name, rejected_reason, parameter_format }) => [name, rejected_reason, parameter_format]),
    [['offer_1', null, 'POSITIONAL']],
  )
  await assert.rejects(async () => await adapter.templates!(connection, never), /not its own/)
  await assert.rejects(async () => await adapter.templates!(connection, never), /Details of 200/)
})

test('a file is fetched by its id, with the token, up to its bound', async () => {
  graph.files.set('77', { mime_type: 'audio/ogg; codecs=opus', body: Buffer.alloc(1000, 7) })
  const fetchFile = async (reference: string, bytes_max: number) => {
    const file = await adapter.media!({ id: reference }, connection, bytes_max, never)
    const chunks: Uint8Array[] = []
    for await (const chunk of file.chunks) chunks.push(chunk)
    return [file.content_type, Buffer.concat(chunks).length]
  }

  assert.deepEqual(await fetchFile('77', 1000), ['audio/ogg; codecs=opus', 1000])
  await assert.rejects(fetchFile('77', 999), /longer than 999/)
  await assert.rejects(fetchFile('78', 1000), /does not give the file/)
})
