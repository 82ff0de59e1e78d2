import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { unconfirmed, messageOf, openingOf } from '../../../test/support/conformance/send-attempts.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { PermanentError } from '../../lib/http-client.ts'
import type { ProviderAdapter, StatusQueryResult, Callback, Connection, Provider } from '../../providers/provider.ts'
import { withRedactedSecrets } from './secret-redaction.ts'

const password = Type.String({ format: 'password' })
const provider: Provider = {
  name: 'pigeon',
  title: 'Pigeon',
  about: 'Carries letters.',
  types: ['sms'],
  offered: 'always',
  credentials: Type.Object({ user: Type.String(), token: password, pin: password }),
  identifier: 'required',
  capabilities: () => ['text'],
  adapter: () => ({}),
}
const token = 'ring:47/11+x'
const connection = (credentials: Record<string, unknown> = { user: 'loft', token, pin: 'feed' }): Connection => ({
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+1',
  credentials,
  settings: {},
  webhook_url: 'https://example.com/hooks/channels/ch_1',
})
const never = new AbortController().signal
const said = { provider_code: token, message: `No ${token}.` }
const clean = { provider_code: '[hidden]', message: 'No [hidden].' }
const told = async (message: string, credentials?: Record<string, unknown>): Promise<string> => {
  const { connect } = withRedactedSecrets(provider, { connect: async () => ({ kind: 'refused', message }) })
  const answer = await connect!(connection(credentials), never)
  return answer.kind === 'refused' ? answer.message : ''
}

test('outcomes of send attempts show no secret; IDs and message texts are unchanged', async () => {
  const outcomes = [
    { kind: 'refused', code: 'provider_error', ...said },
    { kind: 'unavailable', ...said },
    { kind: 'unknown', message: said.message, provider_ids: ['1'] },
    { kind: 'throttled', limit_on: 'channel', ...said, if_lasting: { code: 'policy_violation', ...said } },
    {
      kind: 'accepted',
      provider_ids: [token],
      later_items: [
        {
          after_ms: 0,
          item: {
            kind: 'delivery_receipt',
            provider_id: token,
            transition: 'fail',
            error: { code: 'provider_error', ...said },
          },
        },
        {
          after_ms: 0,
          item: {
            kind: 'inbound',
            provider_id: '2',
            from: '+2',
            profile_name: null,
            type: 'text',
            content: { body: 'a feed' },
            reply_to: null,
          },
        },
      ],
    },
  ] as const
  for (const outcome of outcomes) {
    const adapter = withRedactedSecrets(provider, { send: async () => outcome })
    const expected = JSON.parse(
      JSON.stringify(outcome)
        .replaceAll(JSON.stringify(said).slice(1, -1), JSON.stringify(clean).slice(1, -1))
        .replaceAll(said.message, clean.message),
    )
    assert.deepEqual(await adapter.send!(messageOf(connection(), { to: '+2' }), connection(), never), expected)
  }
})

test('results of status queries show no secret', async () => {
  const receipt = {
    kind: 'delivery_receipt',
    provider_id: '1',
    transition: 'fail',
    error: { code: 'provider_error', ...said },
  } as const
  const found = { provider_ids: ['1'], receipt } as const
  const shown = { provider_ids: ['1'], receipt: { ...receipt, error: { code: 'provider_error', ...clean } } }
  const answers: [StatusQueryResult, object][] = [
    [
      { kind: 'found', ...found },
      { kind: 'found', ...shown },
    ],
    [
      { kind: 'candidates', found: [found, { provider_ids: ['2'] }] },
      { kind: 'candidates', found: [shown, { provider_ids: ['2'] }] },
    ],
    [
      { kind: 'refused', code: 'provider_error', ...said },
      { kind: 'refused', code: 'provider_error', ...clean },
    ],
    [
      { kind: 'no_answer', message: said.message },
      { kind: 'no_answer', message: clean.message },
    ],
    [{ kind: 'not_found' }, { kind: 'not_found' }],
    [{ kind: 'no_information' }, { kind: 'no_information' }],
  ]
  for (const [told, expected] of answers) {
    const { queryStatus: ask } = withRedactedSecrets(provider, { queryStatus: async () => told })
    assert.deepEqual(await ask!(unconfirmed(messageOf(connection(), { to: '+2' })), connection(), never), expected)
  }
})

test('callbacks, sessions and rejections show no secret, and errors keep their class', async () => {
  const fail = {
    kind: 'delivery_receipt',
    provider_id: '1',
    transition: 'fail',
    error: { code: 'provider_error', ...said },
  } as const
  const adapter: ProviderAdapter = {
    receiveCallback: () => ({
      items: [fail, { kind: 'connection_status', provider_id: '1', connected: false, message: said.message }],
      ignored: said.message,
    }),
    listTemplates: async () => {
      throw new Error(said.message, { cause: new Error(token) })
    },
    fetchMedia: async (reference) => {
      if (reference['gone'] === 'yes') throw new PermanentError(said.message)
      return {
        content_type: 'text/plain',
        // oxlint-disable-next-line require-yield
        chunks: (async function* (): AsyncGenerator<Uint8Array> {
          throw new Error(said.message)
        })(),
      }
    },
    openSession: async (_connection, { store: tell }) => {
      await tell([fail], Buffer.from(token), said.message)
      return {
        kind: 'open',
        session: {
          send: async () => ({ kind: 'unavailable', ...said }),
          max_concurrent_sends: 3,
          ended: Promise.resolve({ refused: false, message: said.message }),
          close: async () => undefined,
        },
      }
    },
  }
  const hiding = withRedactedSecrets(provider, adapter)
  const heard: unknown[] = []
  const opened = await hiding.openSession!(
    connection(),
    openingOf({ store: async (...all) => void heard.push(...all) }),
  )
  assert.ok(opened.kind === 'open')
  const file = await hiding.fetchMedia!({}, connection(), 1, never)

  const received = hiding.receiveCallback!({} as Callback, connection())!
  assert.deepEqual(
    received.items.map((report) => ('error' in report ? report.error!.message : 'message' in report && report.message)),
    ['No [hidden].', 'No [hidden].'],
  )
  assert.equal(received.ignored, 'No [hidden].')
  assert.deepEqual(heard, [
    [{ ...fail, error: { code: 'provider_error', ...clean } }],
    Buffer.from(token),
    'No [hidden].',
  ])
  assert.deepEqual(await opened.session.send!(messageOf(connection(), { to: '+2' }), never), {
    kind: 'unavailable',
    ...clean,
  })
  assert.deepEqual(
    [await opened.session.ended, opened.session.max_concurrent_sends],
    [{ refused: false, message: 'No [hidden].' }, 3],
  )
  await assert.rejects(
    hiding.listTemplates!(connection(), never),
    (error: Error) =>
      error.message === 'No [hidden].' && error.cause === undefined && !String(error.stack).includes(token),
  )
  await assert.rejects(
    hiding.fetchMedia!({ gone: 'yes' }, connection(), 1, never),
    (error) => error instanceof PermanentError && error.message === 'No [hidden].',
  )
  await assert.rejects(file.chunks[Symbol.asyncIterator]().next(), { message: 'No [hidden].' })
})

test('a secret is found in every encoding, and a short one changes no other word', async () => {
  const basic = Buffer.from(`loft:${token}`).toString('base64')
  assert.equal(await told(`${token} ${encodeURIComponent(token)} Basic ${basic}`), '[hidden] [hidden] Basic [hidden]')
  assert.equal(await told('feed, (feed) but feeding and unfeed'), '[hidden], ([hidden]) but feeding and unfeed')
  assert.equal(await told('an ox is an ox', { user: 'loft', token: 'ox', pin: '' }), 'an ox is an ox')
  assert.equal(await told('the loft of 4711', { user: 'loft', token: 7, pin: null }), 'the loft of 4711')
})

test('credentials are removed from URLs, which stay valid', async () => {
  assert.equal(
    await told(
      'See https://me:word@example.com/a?id=7&access_token=abc&X-Amz-Signature=def#x, and https://example.com/docs?code=5.',
    ),
    'See https://[hidden]@example.com/a?id=7&access_token=[hidden]&X-Amz-Signature=[hidden]#x, and https://example.com/docs?code=5.',
  )
})

test('a wrapped adapter has exactly the methods of the original', () => {
  const adapter = withRedactedSecrets(provider, { instant: true, validate: () => null })
  assert.deepEqual(Object.keys(adapter), ['instant', 'validate'])
  assert.equal(withRedactedSecrets(provider, provider.adapter(providerTools())).send, undefined)
})
