/** Conformance: texts that PostgreSQL cannot store do not block other messages. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Provider } from '../../../src/providers/provider.ts'
import { storable } from '../../../src/lib/json.ts'
import { hostileServer } from '../hostile-server.ts'
import { respond } from '../raw-receiver.ts'
import { within } from '../waiting.ts'
import { assertOutcome, assertStatusQueryResult, unconfirmed, messageOf } from './send-attempts.ts'
import { left, type AdapterSamples, type Start } from './samples.ts'

const oddWords: Readonly<Record<string, string>> = {
  'a NUL character': 'SM\u00001',
  'half of a surrogate pair': 'SM\ud8001',
  '9,300 characters': 'x'.repeat(9300),
  '3,000 characters that cannot be compressed': Array.from({ length: 3000 }, (_, i) =>
    String.fromCharCode(0x4e00 + ((i * 7919) % 20_000)),
  ).join(''),
}

const success = (odd: string): object => ({
  messages: [{ id: odd, 'message-id': odd, messageId: odd, status: '0' }],
  'message-count': '1',
  sid: odd,
  status: 'queued',
})

const failure = (odd: string): object => ({
  ok: false,
  error_code: 400,
  code: odd,
  error: { message: odd, code: 131_000, error_user_msg: odd, error_data: { details: odd } },
  ...Object.fromEntries(
    ['type', 'title', 'message', 'description', 'error-text', 'errorCode', 'error-code-label', 'error_message'].map(
      (name) => [name, odd],
    ),
  ),
  requestError: { serviceException: { messageId: odd, text: odd } },
  messages: [{ status: odd, 'error-text': odd }],
})

const infobip = (odd: string, groupName: string): object => ({
  messages: [{ messageId: odd, status: { groupId: 1, groupName, id: 26, name: odd, description: odd } }],
})

export async function tryOddValues(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { hostile }: AdapterSamples,
): Promise<void> {
  if (left(hostile)) return
  for (const [name, odd] of Object.entries(oddWords)) {
    await suite.test(`returns only storable texts for ${name} in an answer`, async (t) => {
      const answers: readonly (readonly [number, object])[] = [
        [200, success(odd)],
        [201, success(odd)],
        [200, infobip(odd, 'PENDING')],
        [200, infobip(odd, 'REJECTED')],
        ...[200, 400, 401, 429, 500].map((status) => [status, failure(odd)] as const),
      ]
      for (const [status, answer] of answers) await facesAnswer(t, provider, begin, status, JSON.stringify(answer))
    })
  }
}

async function facesAnswer(
  t: TestContext,
  provider: Provider,
  begin: Start,
  status: number,
  answer: string,
): Promise<void> {
  const { hostile } = await begin(t)
  if (left(hostile)) throw new Error(hostile.why_not)
  const server = await hostileServer(t, respond(status, answer, 'content-type: application/json\r\n'))
  const { tools, connection } = hostile(server.url)
  t.after(() => tools.http.close())
  const adapter = provider.adapter(tools)
  const message = messageOf(connection, { to: '+4915112345678' })
  const never = new AbortController().signal

  const outcome = await within('an outcome', adapter.send!(message, connection, never))
  const result = await within(
    'an answer',
    Promise.resolve(adapter.queryStatus?.(unconfirmed(message), connection, never)),
  )

  assertOutcome(outcome)
  if (result !== undefined) assertStatusQueryResult(result)
  for (const one of [outcome, result]) assert.deepEqual(one, storable(one, 20), answer.slice(0, 200))
}
