/**
 * The conformance suite, which every provider must pass.
 *
 * In the provider's folder, `<provider>.test.ts`:
 *
 *     adapterSuite(twilio, async (t) => {
 *       const sim = await twilioSimulator(t)                        // real HTTP, started for each test
 *       return {
 *         tools: providerTools({ url: sim.url }),
 *         connection,                                              // credentials that the simulator accepts
 *         wrongConnection: { ...connection, credentials: … },      // credentials that it refuses
 *         outcomes: {
 *           accepted: { to: '+4915112345678' },
 *           refused: [{ to: '+4915100000002', expected: { code: 'recipient_blocked', provider_code: '21610' } }],
 *           throttled: { to: '+4915112345678', before: () => sim.throttle(1), expected: { retry_after_ms: 1000 } },
 *           unavailable: { why_not: 'Twilio has no such answer; network failures are tested by the suite.' },
 *           unknown: { to: '+4915112345678', before: () => sim.hang() },
 *         },
 *         taken: () => sim.messages.length,
 *         several: { why_not: 'One call is one message.' },
 *         hostile: (url) => ({ tools: providerTools({ url }), connection }),
 *         callbacks: { proof: 'content', sign, samples: [{ name: 'a receipt', call, items: [{ kind: 'delivery_receipt', … }] }] },
 *       }
 *     })
 *
 * A case that a provider cannot have is skipped with `{ why_not: 'a sentence' }`.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Outcome, Provider } from '../../src/providers/provider.ts'
import { withRedactedSecrets } from '../../src/modules/channels/secret-redaction.ts'
import { tryStatusQueries } from './conformance/status-queries.ts'
import { tryCallbacks } from './conformance/callbacks.ts'
import { tryDescription } from './conformance/description.ts'
import { abortedSendsNothing } from './conformance/aborted-sends.ts'
import { assertOutcome, assertNoSecrets, sender } from './conformance/send-attempts.ts'
import { tryMedia } from './conformance/media.ts'
import { tryNetwork } from './conformance/network.ts'
import { tryOddValues } from './conformance/odd-values.ts'
import { tryOwnIds } from './conformance/own-ids.ts'
import { left, type AdapterSamples, type Provoked, type SeveralSample, type Start } from './conformance/samples.ts'
import { trySessions } from './conformance/sessions.ts'
import { tryTemplates } from './conformance/templates.ts'

export type { AdapterSamples, CallbackSamples, Left, Provoked, Start } from './conformance/samples.ts'

export function adapterSuite(described: Provider, start: Start): void {
  const provider: Provider = {
    ...described,
    adapter: (tools) => withRedactedSecrets(described, described.adapter(tools)),
  }
  const begin = async (t: TestContext): Promise<AdapterSamples> => {
    const samples = await start(t)
    t.after(() => samples.tools.http.close())
    return samples
  }
  test(`${provider.name} conforms to the provider interface`, async (suite) => {
    const samples = await begin(suite)
    await tryDescription(suite, provider, begin)
    await tryOutcomes(suite, provider, begin, samples)
    await trySeveral(suite, provider, begin, samples)
    await tryConnecting(suite, provider, begin, samples)
    await tryNetwork(suite, provider, begin, samples)
    await tryOddValues(suite, provider, begin, samples)
    await tryStatusQueries(suite, provider, begin, samples)
    await tryOwnIds(suite, provider, begin, samples)
    await trySessions(suite, provider, begin, samples)
    await tryCallbacks(suite, provider, begin, samples)
    await tryTemplates(suite, provider, begin, samples)
    await tryMedia(suite, provider, begin, samples)
    for (const why_not of reasonsOf(samples)) suite.diagnostic(`${provider.name}: ${why_not}`)
  })
}

const reasonsOf = ({ outcomes, wrongConnection, taken, several, hostile, receipt }: AdapterSamples): Set<string> =>
  new Set(
    [...Object.values(outcomes), wrongConnection, taken, several, hostile, receipt ?? {}].flatMap((sample) =>
      left(sample) ? [sample.why_not] : [],
    ),
  )

const never = new AbortController().signal
const kinds: readonly Outcome['kind'][] = ['accepted', 'refused', 'throttled', 'unavailable', 'unknown']

async function tryOutcomes(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { outcomes }: AdapterSamples,
): Promise<void> {
  for (const kind of kinds) {
    if (left(outcomes[kind])) continue
    await suite.test(`returns ${kind} as a value`, async (t) => {
      const samples = await begin(t)
      for (const { to, before, content, expected } of provokedOf(samples, kind)) {
        await before?.()
        const send = await sender(t, provider, samples)

        const outcome = await send({ to, ...content })

        assert.deepEqual({ ...outcome, ...expected, kind }, outcome, `to ${to}`)
        assertOutcome(outcome)
        assertNoSecrets(provider, samples.connection, outcome)
      }
    })
  }

  await suite.test('gives every message its own id', async (t) => {
    const samples = await begin(t)
    const [{ to, before, content }] = provokedOf(samples, 'accepted')
    await before?.()
    const send = await sender(t, provider, samples)

    const answers = await Promise.all(
      ['1', '2'].map((end) => send({ to, ...content, id: `msg_0000000000000000000000000${end}` })),
    )

    const ids = answers.flatMap((outcome) => (outcome.kind === 'accepted' ? outcome.provider_ids : []))
    assert.ok(ids.length >= 2 && new Set(ids).size === ids.length, ids.join(', '))
  })

  await suite.test('returns a value for any text', async (t) => {
    const samples = await begin(t)
    const [{ to }] = provokedOf(samples, 'accepted')
    const send = await sender(t, provider, samples)
    for (const body of [
      'x'.repeat(1600),
      '😀'.repeat(400),
      '\u0000',
      'a\r\nb: c',
      '"\\\'<&>{{1}}%00',
      '€^{}[]~|\\',
      '\u202e\ufeff',
    ])
      assertOutcome(await send({ to, content: { body } }))
  })

  await suite.test('sends nothing when aborted before it began, and does not reject', async (t) =>
    abortedSendsNothing(t, provider, await begin(t)),
  )
}

function provokedOf({ outcomes }: AdapterSamples, kind: Outcome['kind']): readonly [Provoked, ...Provoked[]] {
  const provoked = outcomes[kind]
  assert.ok(!left(provoked), `every provider needs a way to cause ${kind}`)
  return (Array.isArray(provoked) ? provoked : [provoked]) as [Provoked, ...Provoked[]]
}

async function trySeveral(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  samples: AdapterSamples,
): Promise<void> {
  if (left(samples.several)) return
  await suite.test(`after a partial acceptance sends only the remaining parts, in any process`, async (t) => {
    const samples = await begin(t)
    const several = samples.several as SeveralSample
    several.breakAfterFirst('later')
    const broken = await (await sender(t, provider, samples))(several.message)
    const already_accepted = broken.kind === 'accepted' ? [] : [...(broken.provider_ids ?? [])]

    const whole = await (await sender(t, provider, samples))({ ...several.message, attempt: 2, already_accepted })

    assert.ok(['throttled', 'unavailable', 'unknown'].includes(broken.kind), JSON.stringify(broken))
    assert.ok(already_accepted.length > 0, 'it reports the accepted parts')
    assertOutcome(broken)
    assert.ok(whole.kind === 'accepted', JSON.stringify(whole))
    assert.deepEqual(whole.provider_ids.slice(0, already_accepted.length), already_accepted)
    assert.deepEqual(
      [whole.provider_ids.length, new Set(whole.provider_ids).size, several.taken()],
      [several.count, several.count, several.count],
    )
  })

  await suite.test(
    `reports each accepted part before the next one is sent, and stops when the callback says so`,
    async (t) => {
      const samples = await begin(t)
      const several = samples.several as SeveralSample
      const accepted: (readonly string[])[] = []
      const send = await sender(t, provider, samples)

      const stopped = await send(several.message, never, async (ids) => {
        accepted.push(ids)
        assert.equal(several.taken(), ids.length, 'no part was sent ahead')
        return null
      })
      const before = several.taken()
      const already_accepted = stopped.kind === 'accepted' ? [] : [...(stopped.provider_ids ?? [])]
      const whole = await send(
        { ...several.message, attempt: 2, already_accepted },
        never,
        async (ids) => (accepted.push(ids), never),
      )

      assertOutcome(stopped)
      assert.deepEqual([stopped.kind, already_accepted, before], ['unavailable', accepted[0], already_accepted.length])
      assert.ok(whole.kind === 'accepted' && before < several.count, JSON.stringify(whole))
      assert.equal(several.taken(), several.count)
      // the outcome reports the last part
      for (const ids of accepted) assert.deepEqual(whole.provider_ids.slice(0, ids.length), ids)
      assert.ok(accepted.every(({ length }) => length < several.count))
    },
  )

  await suite.test(`reports the accepted parts when the rest is refused`, async (t) => {
    const samples = await begin(t)
    const several = samples.several as SeveralSample
    several.breakAfterFirst('refused')

    const outcome = await (await sender(t, provider, samples))(several.message)

    assert.ok(outcome.kind === 'refused', JSON.stringify(outcome))
    assert.deepEqual(
      [outcome.provider_ids?.length, (outcome.provider_ids?.length ?? 0) < several.count],
      [several.taken(), true],
    )
    assertOutcome(outcome)
  })
}

async function tryConnecting(
  suite: TestContext,
  provider: Provider,
  begin: Start,
  { tools, wrongConnection }: AdapterSamples,
): Promise<void> {
  if (provider.adapter(tools).connect === undefined) return
  await suite.test('accepts right credentials', async (t) => {
    const samples = await begin(t)
    const adapter = provider.adapter(samples.tools)

    const right = await adapter.connect!(samples.connection, never)

    assert.equal(right.kind, 'connected', JSON.stringify(right))
    if (provider.identifier === 'from_provider')
      assert.ok(right.kind === 'connected' && (right.identifier ?? '') !== '')
    assert.ok(
      ['connected', 'refused', 'unavailable'].includes(
        (await adapter.connect!(samples.connection, AbortSignal.abort())).kind,
      ),
    )
  })

  if (left(wrongConnection)) return
  await suite.test('refuses wrong credentials with a sentence', async (t) => {
    const samples = await begin(t)
    const wrongOne = samples.wrongConnection as typeof wrongConnection

    const wrong = await provider.adapter(samples.tools).connect!(wrongOne, never)

    assert.equal(wrong.kind, 'refused', JSON.stringify(wrong))
    assertNoSecrets(provider, wrongOne, wrong)
    if (wrong.kind === 'refused') assert.match(wrong.message, /[.!?]$/)
  })
}
