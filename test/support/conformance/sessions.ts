/** Conformance: sessions open, receive, close and reopen. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Provider, CallbackItem } from '../../../src/providers/provider.ts'
import { until, within } from '../waiting.ts'
import { closingTests } from './closing.ts'
import { assertNoSecrets, messageOf, openingOf } from './send-attempts.ts'
import { assertReport } from './callback-items.ts'
import { left, type AdapterSamples, type Provoked, type Start } from './samples.ts'

const never = new AbortController().signal

export async function trySessions(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools, session, wrongConnection }: AdapterSamples,
): Promise<void> {
  if (provider.adapter(tools).openSession === undefined) return
  assert.ok(session !== undefined, 'a provider with sessions gives the suite one to open')

  await suite.test('opens a session, reports its items, closes it, and opens another one', async (t) => {
    const samples = await begin(t)
    const { connection, say } = samples.session!
    const adapter = provider.adapter(samples.tools)
    const items: CallbackItem[] = []
    assert.equal(adapter.needsSession?.(connection), true)
    for (let round = 0; round < 2; round++) {
      const opened = await within(
        'a session',
        adapter.openSession!(connection, openingOf({ store: async (received) => void items.push(...received) })),
      )
      assert.ok(opened.kind === 'open', JSON.stringify(opened))
      t.after(() => opened.session.close(AbortSignal.abort()))
      const before = items.length
      await say(`Hello ${round}`)
      await until('an inbound item', () => items.length > before)
      await within('the session to close', opened.session.close(never))
      assert.equal((await within('its end', opened.session.ended)).refused, false)
    }
    for (const report of items) assertReport(report)
  })

  for (const [name, promise] of Object.entries(closingTests))
    await suite.test(name, async (t) => promise(t, provider, await begin(t)))

  await suite.test('ends the opening of a session when aborted', async (t) => {
    const samples = await begin(t)
    const opening = provider.adapter(samples.tools).openSession!(
      samples.session!.connection,
      openingOf({ signal: AbortSignal.abort() }),
    )

    assert.equal((await within('an answer', opening)).kind, 'unavailable')
  })

  await suite.test('sends nothing over a session without its lease, and again with it', async (t) =>
    sendsForItsHolder(t, provider, await begin(t)),
  )

  if (left(wrongConnection)) return
  await suite.test('opens no session with wrong credentials, and says why', async (t) => {
    const samples = await begin(t)
    const wrong = {
      ...samples.session!.connection,
      credentials: (samples.wrongConnection as typeof wrongConnection).credentials,
    }

    const opened = await within('an answer', provider.adapter(samples.tools).openSession!(wrong, openingOf()))

    assert.ok(opened.kind === 'refused', JSON.stringify(opened))
    assert.match(opened.message, /[.!?]$/)
    assertNoSecrets(provider, wrong, opened)
  })
}

export async function sendsForItsHolder(
  t: TestContext,
  provider: Provider,
  { tools, session, outcomes, taken }: AdapterSamples,
): Promise<void> {
  const lease = { own: false }
  const { connection } = session!
  const adapter = provider.adapter(tools)
  const opened = await adapter.openSession!(connection, openingOf({ hasLease: () => lease.own }))
  assert.ok(opened.kind === 'open', JSON.stringify(opened))
  t.after(() => opened.session.close(AbortSignal.abort()))
  assert.ok(
    !left(taken) && !left(outcomes.accepted),
    'a provider with sessions gives the suite its count of accepted messages',
  )
  const [{ to, content }] = [outcomes.accepted].flat() as [Provoked]
  const message = messageOf(connection, { to, ...content })
  const send = async () => {
    const before = taken()
    const over = opened.session.send?.(message, never) ?? adapter.send?.(message, connection, never)
    assert.ok(over !== undefined, 'it sends over its sessions or without them')
    const { kind } = await within('an outcome', over)
    return [kind, taken() > before]
  }

  const foreign = await send()
  lease.own = true

  assert.deepEqual(
    [foreign, await send()],
    [opened.session.send === undefined ? ['accepted', true] : ['unavailable', false], ['accepted', true]],
  )
}
