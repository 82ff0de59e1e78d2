/** Conformance: status queries. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StatusQueryResult, OutboundMessage, Provider } from '../../../src/providers/provider.ts'
import { assertTold, inDoubt, messageOf, sender } from './send-attempts.ts'
import type { AdapterSamples, Start } from './samples.ts'

const never = new AbortController().signal
const otherId = 'msg_00000000000000000000000009'

type Given = Partial<OutboundMessage>

export const askingPromises: Readonly<
  Record<string, (t: TestContext, provider: Provider, samples: AdapterSamples) => Promise<void>>
> = {
  'finds a message that the provider took, though its answer was lost': async (t, provider, samples) => {
    const { asked, send, ask } = await asking(t, provider, samples)
    asked.loseAnswer()

    const lost = await send()
    const told = await ask()

    assert.equal(lost.kind, 'unknown')
    assert.deepEqual(idsIn(told), [...asked.ids()])
    assert.deepEqual([told.kind, asked.ids().length], [asked.by, 1])
  },
  'tells that the provider never had a message, whatever else it has for the recipient': async (
    t,
    provider,
    samples,
  ) => {
    const { asked, send, ask } = await asking(t, provider, samples)
    await send({ id: otherId, content: { body: 'Another text' } })
    asked.loseRequest()

    const lost = await send()

    assert.deepEqual([lost.kind, (await ask()).kind], ['unknown', 'not_found'])
  },
  'finds a message among others like it, by our id alone where the provider has it, else all of them, the oldest first':
    async (t, provider, samples) => {
      const { asked, send, ask } = await asking(t, provider, samples)
      await send()
      await send({ id: otherId })
      const ids = [...asked.ids()]

      assert.equal(ids.length, 2)
      assert.deepEqual(idsIn(await ask()), asked.by === 'found' ? [ids[0]] : ids)
      assert.deepEqual(idsIn(await ask({ id: otherId })), asked.by === 'found' ? [ids[1]] : ids)
    },
  'tells that a message has failed': async (t, provider, samples) => {
    const { asked, send, ask } = await asking(t, provider, samples)
    await send()
    asked.fail()

    const told = await ask()

    const receipt =
      told.kind === 'found' ? told.receipt : told.kind === 'candidates' ? told.found[0].receipt : undefined
    assert.ok(told.kind === 'refused' || receipt?.transition === 'fail', JSON.stringify(told))
  },
  'does not take silence for an answer: it is asked again': async (t, provider, samples) => {
    const { asked, send, ask } = await asking(t, provider, samples)
    await send()
    asked.loseRequest()

    assert.equal((await ask()).kind, 'no_answer')
    assert.equal((await ask({}, AbortSignal.abort())).kind, 'no_answer')
    assert.deepEqual(idsIn(await ask()), [...asked.ids()])
  },
}

async function asking(t: TestContext, provider: Provider, samples: AdapterSamples) {
  const { asked, connection, tools } = samples
  assert.ok(asked !== undefined, 'a provider that can be asked gives the suite a way to lose answers')
  const [send, adapter] = [await sender(t, provider, samples), provider.adapter(tools)]
  return {
    asked,
    send: (given: Given = {}) => send({ to: asked.to, ...given }),
    async ask(given: Given = {}, signal = never): Promise<StatusQueryResult> {
      const told = await adapter.queryStatus!(
        inDoubt(messageOf(connection, { to: asked.to, ...given })),
        connection,
        signal,
      )
      assertTold(told)
      return told
    },
  }
}

const idsIn = (told: StatusQueryResult): readonly string[] =>
  told.kind === 'found'
    ? told.provider_ids
    : told.kind === 'candidates'
      ? told.found.flatMap(({ provider_ids }) => provider_ids)
      : [told.kind]

export async function tryStatusQueries(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools }: AdapterSamples,
): Promise<void> {
  if (provider.adapter(tools).queryStatus === undefined) return
  for (const [name, promise] of Object.entries(askingPromises))
    await suite.test(name, async (t) => promise(t, provider, await begin(t)))
}
