/** Conformance: after `close` of a session nothing continues. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Provider, CallbackItem } from '../../../src/providers/provider.ts'
import { until, within } from '../waiting.ts'
import { messageOf, openingOf } from './send-attempts.ts'
import { left, type AdapterSamples, type Provoked } from './samples.ts'

const never = new AbortController().signal

export const closingTests: Readonly<
  Record<string, (t: TestContext, provider: Provider, samples: AdapterSamples) => Promise<void>>
> = {
  'closes a session once received items are stored, and not before': async (t, provider, samples) => {
    const { session, finishStoring, hear, meanwhile } = await receivingSession(t, provider, samples)
    await hear('Hello')
    const closed = { yet: false }
    const closing = session.close(never).then(() => (closed.yet = true))
    await meanwhile()
    const early = closed.yet
    finishStoring()
    await within('the session to close', closing)

    assert.equal(early, false, 'it closed while an item was being stored')
    await within('its end', session.ended)
  },
  'closes a session at once when the signal has aborted': async (t, provider, samples) => {
    const { session, finishStoring, hear } = await receivingSession(t, provider, samples)
    await hear('Hello')

    await within('the session to close', session.close(AbortSignal.abort()))

    finishStoring()
  },
  'sends and reports nothing over a closed session': async (t, provider, samples) => {
    const { session, finishStoring, items, connection, meanwhile } = await receivingSession(t, provider, samples)
    finishStoring()
    await session.close(never)
    await Promise.resolve(samples.session!.say('Too late')).catch(() => undefined)
    const { outcomes, taken } = samples
    if (session.send !== undefined && !left(outcomes.accepted) && !left(taken)) {
      const [{ to, content }] = [outcomes.accepted].flat() as [Provoked]
      const outcome = await within('an outcome', session.send(messageOf(connection, { to, ...content }), never))
      assert.deepEqual([outcome.kind, taken()], ['unavailable', 0])
    }
    await meanwhile()
    assert.deepEqual(items, [])
  },
}

async function receivingSession(t: TestContext, provider: Provider, samples: AdapterSamples) {
  const { connection, say } = samples.session!
  const items: CallbackItem[] = []
  const stored = Promise.withResolvers<void>()
  const tell = async (received: readonly CallbackItem[]) => {
    items.push(...received)
    await stored.promise
  }
  const adapter = provider.adapter(samples.tools)
  const opened = await within('a session', adapter.openSession!(connection, openingOf({ store: tell })))
  assert.ok(opened.kind === 'open', JSON.stringify(opened))
  t.after(() => (stored.resolve(), opened.session.close(AbortSignal.abort())))
  return {
    session: opened.session,
    connection,
    items,
    finishStoring: () => stored.resolve(),
    /** A close that does not wait would resolve during this request. */
    meanwhile: () => within('an answer', Promise.resolve(adapter.connect?.(connection, never))),
    async hear(body: string) {
      void Promise.resolve(say(body)).catch(() => undefined)
      await until('an inbound item', () => items.length > 0)
    },
  }
}
