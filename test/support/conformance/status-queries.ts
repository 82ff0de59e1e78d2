/** Conformance: status queries. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StatusQueryResult, OutboundMessage, Provider } from '../../../src/providers/provider.ts'
import { assertStatusQueryResult, unconfirmed, messageOf, sender } from './send-attempts.ts'
import type { AdapterSamples, Start } from './samples.ts'

const never = new AbortController().signal
const otherId = 'msg_00000000000000000000000009'

type Given = Partial<OutboundMessage>

export const statusQueryTests: Readonly<
  Record<string, (t: TestContext, provider: Provider, samples: AdapterSamples) => Promise<void>>
> = {
  'finds an accepted message whose answer was lost': async (t, provider, samples) => {
    const { statusQuery, send, ask } = await asking(t, provider, samples)
    statusQuery.loseAnswer()

    const lost = await send()
    const result = await ask()

    assert.equal(lost.kind, 'unknown')
    assert.deepEqual(idsIn(result), [...statusQuery.ids()])
    assert.deepEqual([result.kind, statusQuery.ids().length], [statusQuery.by, 1])
  },
  'reports that the provider never had a message, despite others for the recipient': async (t, provider, samples) => {
    const { statusQuery, send, ask } = await asking(t, provider, samples)
    await send({ id: otherId, content: { body: 'Another text' } })
    statusQuery.loseRequest()

    const lost = await send()

    assert.deepEqual([lost.kind, (await ask()).kind], ['unknown', 'not_found'])
  },
  'finds a message among others like it, by our id alone where the provider has it, else all of them, the oldest first':
    async (t, provider, samples) => {
      const { statusQuery, send, ask } = await asking(t, provider, samples)
      await send()
      await send({ id: otherId })
      const ids = [...statusQuery.ids()]

      assert.equal(ids.length, 2)
      assert.deepEqual(idsIn(await ask()), statusQuery.by === 'found' ? [ids[0]] : ids)
      assert.deepEqual(idsIn(await ask({ id: otherId })), statusQuery.by === 'found' ? [ids[1]] : ids)
    },
  'reports a failed message': async (t, provider, samples) => {
    const { statusQuery, send, ask } = await asking(t, provider, samples)
    await send()
    statusQuery.fail()

    const result = await ask()

    const receipt =
      result.kind === 'found' ? result.receipt : result.kind === 'candidates' ? result.found[0].receipt : undefined
    assert.ok(result.kind === 'refused' || receipt?.transition === 'fail', JSON.stringify(result))
  },
  'returns no_answer without an answer, so that the query is repeated': async (t, provider, samples) => {
    const { statusQuery, send, ask } = await asking(t, provider, samples)
    await send()
    statusQuery.loseRequest()

    assert.equal((await ask()).kind, 'no_answer')
    assert.equal((await ask({}, AbortSignal.abort())).kind, 'no_answer')
    assert.deepEqual(idsIn(await ask()), [...statusQuery.ids()])
  },
}

async function asking(t: TestContext, provider: Provider, samples: AdapterSamples) {
  const { statusQuery, connection, tools } = samples
  assert.ok(statusQuery !== undefined, 'a provider with status queries gives the suite a way to lose answers')
  const [send, adapter] = [await sender(t, provider, samples), provider.adapter(tools)]
  return {
    statusQuery,
    send: (overrides: Given = {}) => send({ to: statusQuery.to, ...overrides }),
    async ask(overrides: Given = {}, signal = never): Promise<StatusQueryResult> {
      const result = await adapter.queryStatus!(
        unconfirmed(messageOf(connection, { to: statusQuery.to, ...overrides })),
        connection,
        signal,
      )
      assertStatusQueryResult(result)
      return result
    },
  }
}

const idsIn = (result: StatusQueryResult): readonly string[] =>
  result.kind === 'found'
    ? result.provider_ids
    : result.kind === 'candidates'
      ? result.found.flatMap(({ provider_ids }) => provider_ids)
      : [result.kind]

export async function tryStatusQueries(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools }: AdapterSamples,
): Promise<void> {
  if (provider.adapter(tools).queryStatus === undefined) return
  for (const [name, promise] of Object.entries(statusQueryTests))
    await suite.test(name, async (t) => promise(t, provider, await begin(t)))
}
