import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { startWhatsapp, type Trouble } from '../../../test/support/simulators/whatsapp.ts'
import {
  adapter,
  callback,
  changes,
  connection,
  graph,
  id,
  never,
  statusTime,
} from '../../../test/support/whatsapp-channel.ts'
import type { Callback } from '../provider.ts'
import { whatsappCloud } from './whatsapp.ts'

const refusals: readonly (readonly [string, Trouble])[] = [
  ['+4915100000190', { error: 131026 }],
  ['+4915100000429', { error: 130429, status: 429 }],
  ['+4915100000500', { error: 131000, status: 500 }],
  ['+4915100000502', 'gateway'],
]
const inboundText = {
  id: 'wamid.IN',
  from: '4915112345678',
  timestamp: '1750030073',
  type: 'text',
  text: { body: 'Hello' },
  context: { id: 'wamid.OURS' },
}
const failed = {
  id: 'wamid.2',
  status: 'failed',
  timestamp: '1750030073',
  recipient_id: '4915112345678',
  errors: [{ code: 131050, title: 'Stopped' }],
}
const read = {
  id: 'wamid.1',
  status: 'read',
  timestamp: '1750030073',
  recipient_id: '4915112345678',
  biz_opaque_callback_data: id,
}
const sign = (call: Callback): Callback => ({
  ...callback(Buffer.from(call.body)),
  method: call.method,
  url: call.url,
  query: call.query,
})

adapterSuite(whatsappCloud, async (t) => {
  const own = await startWhatsapp()
  t.after(() => own.close())
  for (const [to, trouble] of refusals) own.refuse(to, trouble)
  own.templates.push(
    ...['offer', 'offer_2'].map((name) => ({
      id: name,
      name,
      language: 'en_US',
      status: 'APPROVED',
      category: 'UTILITY',
      components: [],
    })),
  )
  own.files.set('77', { mime_type: 'image/jpeg', body: Buffer.from('a picture') })
  return {
    tools: providerTools({ url: own.url }),
    connection,
    wrongConnection: { ...connection, credentials: { ...graph.credentials, access_token: 'another' } },
    outcomes: {
      accepted: { to: '+4915112345678' },
      refused: { to: '+4915100000190', expected: { code: 'provider_error', provider_code: '131026' } },
      throttled: { to: '+4915100000429', expected: { limit_on: 'channel', provider_code: '130429' } },
      unavailable: { to: '+4915100000500', expected: { provider_code: '131000' } },
      unknown: { to: '+4915100000502' },
    },
    taken: () => own.sent.length,
    several: {
      message: {
        to: '+4915112345678',
        type: 'attachments',
        content: ['a', 'b', 'c'].map((name) => ({ type: 'image', url: `https://example.com/${name}.jpg` })),
      },
      count: 3,
      breakAfterFirst: (how) =>
        own.trouble('/messages', 'none', how === 'later' ? { error: 130429, status: 429 } : { error: 131053 }),
      taken: () => own.sent.length,
    },
    receipt: () => callback(changes([graph.messages({ statuses: [own.status(own.sent.at(-1)!, 'delivered')] })])),
    hostile: (url) => ({ tools: providerTools({ url }), connection }),
    template: 'offer',
    media: {
      available: { id: '77' },
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
          items: [
            { kind: 'delivery_receipt', provider_id: 'wamid.1', transition: 'open', message_id: id },
            {
              kind: 'delivery_receipt',
              provider_id: 'wamid.2',
              transition: 'fail',
              error: {
                code: 'recipient_blocked',
                message: 'The recipient has stopped marketing messages from this account. WhatsApp says: Stopped',
                provider_code: '131050',
              },
            },
            {
              kind: 'preference',
              provider_id: 'wamid.2',
              from: '+4915112345678',
              marketing: 'stop',
              occurred_at: statusTime,
            },
          ],
        },
        {
          name: 'a message that came in',
          call: callback(
            changes([
              graph.messages({
                contacts: [{ profile: { name: 'Ada' }, wa_id: '4915112345678' }],
                messages: [inboundText],
              }),
            ]),
          ),
          items: [
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
          call: callback(
            changes([{ field: 'message_template_status_update', value: { event: 'PAUSED', message_template_id: 1 } }]),
          ),
          items: [{ kind: 'templates', provider_id: 'templates' }],
        },
        {
          name: 'an account that was disabled',
          call: callback(
            changes([
              { field: 'account_update', value: { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } } },
            ]),
          ),
          items: [
            {
              kind: 'connection_status',
              provider_id: 'account DISABLED_UPDATE',
              connected: false,
              message: 'The WhatsApp Business account was disabled. See WhatsApp Manager for the reason.',
            },
          ],
        },
      ],
    },
  }
})

test('the handshake needs our verify token', () => {
  const shake = (query: Record<string, string>) =>
    adapter.handshake!({ ...callback(''), method: 'GET', query }, connection)
  const right = { 'hub.mode': 'subscribe', 'hub.verify_token': 'our word', 'hub.challenge': '1158201444' }

  assert.equal(shake(right)!.body, '1158201444')
  assert.deepEqual(
    [shake({ ...right, 'hub.verify_token': 'x' }), shake({ ...right, 'hub.mode': '' }), shake({})],
    [null, null, null],
  )
})

test('all templates are read in pages, or only those with a name', async () => {
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

  const all = await adapter.listTemplates!(connection, never)
  const one = await adapter.listTemplates!(connection, never, 'offer_1')
  const calls = graph.calls.filter((call) => call.endsWith('/message_templates')).length
  graph.trouble('/message_templates', 'nonsense', { error: 200, status: 403 })

  assert.deepEqual([all.length, calls], [450, 7])
  assert.deepEqual(
    one.map(({ name, rejected_reason, parameter_format }) => [name, rejected_reason, parameter_format]),
    [['offer_1', null, 'POSITIONAL']],
  )
  await assert.rejects(async () => await adapter.listTemplates!(connection, never), /does not come from it/)
  await assert.rejects(async () => await adapter.listTemplates!(connection, never), /Details of 200/)
})

test('a file is downloaded by id with the token, up to its limit', async () => {
  graph.files.set('77', { mime_type: 'audio/ogg; codecs=opus', body: Buffer.alloc(1000, 7) })
  const fetchFile = async (reference: string, bytes_max: number) => {
    const file = await adapter.fetchMedia!({ id: reference }, connection, bytes_max, never)
    const chunks: Uint8Array[] = []
    for await (const chunk of file.chunks) chunks.push(chunk)
    return [file.content_type, Buffer.concat(chunks).length]
  }

  assert.deepEqual(await fetchFile('77', 1000), ['audio/ogg; codecs=opus', 1000])
  await assert.rejects(fetchFile('77', 999), /longer than 999/)
  await assert.rejects(fetchFile('78', 1000), /does not give the file/)
})
