/** Conformance: every call returns a value whatever the server answers, and none sends a second message. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { StatusQueryResult, Outcome, Provider } from '../../../src/providers/provider.ts'
import { left, type AdapterSamples, type Start } from './samples.ts'
import {
  deafUrl,
  echo,
  foreignAnswers,
  hostileAnswers,
  hostilePeer as startPeer,
  hostilePeers,
  hostileServer,
  silence,
  type HostileServer,
} from '../hostile-server.ts'
import type { Answer } from '../raw-receiver.ts'
import { within } from '../waiting.ts'
import { assertOutcome, unconfirmed, assertNoSecrets, messageOf, openingOf } from './send-attempts.ts'

/** The HTTP client's bound plus socket buffers. */
const floodBytesMax = 32 * 1024 * 1024
const never = new AbortController().signal
const to = '+4915112345678'

export async function tryNetwork(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { hostile, hostilePeer }: AdapterSamples,
): Promise<void> {
  if (!left(hostile))
    await suite.test('returns a value for any answer of a server', (t) => facesServers(t, provider, begin))
  if (hostilePeer !== undefined)
    await suite.test('opens no session with a peer of another protocol', (t) => facesPeers(t, provider, begin))
}

async function facesServers(t: TestContext, provider: Provider, begin: Start): Promise<void> {
  await t.test('nobody listens: certainly not sent', (each) => facesNobody(each, provider, begin))
  for (const [name, answer] of Object.entries(hostileAnswers))
    await t.test(`${name}: the outcome is unknown`, (each) => facesNonsense(each, provider, begin, answer))
  for (const [name, [answer, kind]] of Object.entries(foreignAnswers))
    await t.test(`${name}: ${kind}`, (each) => facesTrouble(each, provider, begin, answer, kind))
  await t.test('no answer: it ends with its signal, and the outcome is unknown', (each) =>
    facesSilence(each, provider, begin),
  )
  await t.test('an echo of the request: no secret is passed on', (each) => facesEcho(each, provider, begin))
}

async function facesPeers(t: TestContext, provider: Provider, begin: Start): Promise<void> {
  for (const [name, treat] of Object.entries(hostilePeers))
    await t.test(`a peer that ${name}`, (each) => facesPeer(each, provider, begin, treat))
  await t.test('a silent peer, until the signal aborts', (each) =>
    facesPeer(each, provider, begin, () => undefined, true),
  )
}

async function facing(t: TestContext, provider: Provider, begin: Start, answer: Answer | null) {
  const { hostile } = await begin(t)
  if (left(hostile)) throw new Error(hostile.why_not)
  const server: HostileServer | null = answer === null ? null : await hostileServer(t, answer)
  const { tools, connection } = hostile(server?.url ?? (await deafUrl()))
  t.after(() => tools.http.close())
  const adapter = provider.adapter(tools)
  const message = messageOf(connection, { to })
  return {
    server,
    connection,
    send: (signal = never) => within('an outcome', adapter.send!(message, connection, signal)),
    connect: (signal = never) => within('an answer', Promise.resolve(adapter.connect?.(connection, signal))),
    register: (signal = never) => within('an answer', Promise.resolve(adapter.register?.(connection, signal))),
    templates: () =>
      within(
        'the templates',
        (adapter.listTemplates?.(connection, never) ?? Promise.resolve(null)).catch(() => null),
      ),
    templatesFailure: async (): Promise<unknown> =>
      await (adapter.listTemplates?.(connection, never) ?? Promise.resolve()).catch((error: unknown) => error),
    ask: (signal = never) =>
      within('an answer', Promise.resolve(adapter.queryStatus?.(unconfirmed(message), connection, signal))),
    disconnect: (signal = never) => within('the end', Promise.resolve(adapter.disconnect?.(connection, signal))),
  }
}

async function facesNobody(t: TestContext, provider: Provider, begin: Start): Promise<void> {
  const { send, connect, register, ask, disconnect } = await facing(t, provider, begin, null)

  assert.equal((await send()).kind, 'unavailable')
  assert.equal((await connect())?.kind ?? 'unavailable', 'unavailable')
  assert.equal((await register())?.kind ?? 'unavailable', 'unavailable')
  assertQueryRepeated(await ask())
  await disconnect()
}

async function facesNonsense(t: TestContext, provider: Provider, begin: Start, answer: Answer): Promise<void> {
  const { server, send, connect, register, templates, ask, disconnect } = await facing(t, provider, begin, answer)

  const outcome = await send()

  assert.equal(outcome.kind, 'unknown', JSON.stringify(outcome))
  assertOutcome(outcome)
  assert.equal(server!.requests.length, 1, 'a request that may have arrived is not repeated by the adapter')
  assert.notEqual((await connect())?.kind, 'connected')
  assert.notEqual((await register())?.kind, 'connected')
  assertQueryRepeated(await ask())
  assert.equal(await templates(), null, 'what cannot be read is no list of templates')
  await disconnect()
  assert.ok(server!.flooded() < floodBytesMax, `${server!.flooded()} bytes were read`)
}

async function facesTrouble(
  t: TestContext,
  provider: Provider,
  begin: Start,
  answer: Answer,
  kind: Outcome['kind'],
): Promise<void> {
  const { server, send, connect, register, ask, disconnect } = await facing(t, provider, begin, answer)

  const outcome = await send()

  assert.equal(outcome.kind, kind, JSON.stringify(outcome))
  assertOutcome(outcome)
  assert.equal(server!.requests.length, 1, 'what may have arrived is not repeated by the adapter')
  assert.notEqual((await connect())?.kind, 'connected')
  assert.notEqual((await register())?.kind, 'connected')
  assertQueryRepeated(await ask(), kind === 'throttled' ? 'throttled' : 'no_answer')
  await disconnect()
}

async function facesSilence(t: TestContext, provider: Provider, begin: Start): Promise<void> {
  const { server, send, connect, register, ask, disconnect } = await facing(t, provider, begin, silence)
  const over = new AbortController()

  const outcome = send(over.signal)
  await server!.arrived(1)
  over.abort(new Error('aborted'))

  assert.equal((await outcome).kind, 'unknown')
  const stopped = AbortSignal.abort()
  assert.notEqual((await connect(stopped))?.kind, 'connected')
  assert.notEqual((await register(stopped))?.kind, 'connected')
  assertQueryRepeated(await ask(stopped))
  await disconnect(stopped)
}

/** Any other result would send again, or end a message with an unknown outcome. */
function assertQueryRepeated(
  result: StatusQueryResult | undefined,
  kind: 'no_answer' | 'throttled' = 'no_answer',
): void {
  if (result !== undefined)
    assert.equal(result.kind, kind, `a provider that did not answer is queried again: ${JSON.stringify(result)}`)
}

/** Echoes of the request: a debug page, each provider's error format, a line with credentials. */
const repeats: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) =>
    JSON.stringify({
      ok: false,
      error_code: 400,
      code: 29999,
      error: { message: text, code: 999_999 },
      ...Object.fromEntries(
        ['type', 'title', 'message', 'description', 'error-text', 'errorCode'].map((name) => [name, text]),
      ),
      messages: [{ status: '77', 'error-text': text }],
    }),
]
const partsOf = (request: string): string[] => [
  request,
  request.split('\r\n')[0]!,
  ...request.split('\r\n').filter((line) => /^authorization:/i.test(line)),
]

async function facesEcho(t: TestContext, provider: Provider, begin: Start): Promise<void> {
  for (const status of [200, 400, 401, 500]) {
    for (const repeat of repeats) {
      for (const part of [0, 1, 2]) {
        const { connection, send, connect, register, ask, templatesFailure } = await facing(
          t,
          provider,
          begin,
          echo(status, (request) => repeat(partsOf(request)[part] ?? '')),
        )
        for (const call of [send, connect, register, ask, templatesFailure])
          assertNoSecrets(provider, connection, (await call()) ?? {})
      }
    }
  }
}

async function facesPeer(
  t: TestContext,
  provider: Provider,
  begin: Start,
  treat: (socket: Socket) => void,
  giveUp = false,
): Promise<void> {
  const samples = await begin(t)
  const peer = await startPeer(t, treat)
  const { tools, connection } = samples.hostilePeer!(peer.port)
  t.after(() => tools.http.close())
  const over = new AbortController()
  const opening = provider.adapter(tools).openSession!(connection, openingOf({ signal: over.signal }))
  await within('a connection', peer.connected)
  if (giveUp) over.abort(new Error('aborted'))

  const opened = await within('an answer', opening)

  assert.notEqual(opened.kind, 'open', JSON.stringify(opened))
}
