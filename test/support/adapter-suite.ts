/**
 * What every provider promises, whatever it speaks. The suite is the definition of the contract; a provider is done when it passes.
 *
 * In the provider's folder, `<provider>.test.ts`:
 *
 *     adapterSuite(twilio, async (t) => {
 *       const sim = await twilioSimulator(t)                        // real HTTP, started anew for each promise
 *       return {
 *         tools: providerTools({ url: sim.url }),
 *         connection,                                              // credentials that the simulator takes
 *         wrongConnection: { ...connection, credentials: … },      // credentials that it refuses
 *         outcomes: {
 *           accepted: { to: '+4915112345678' },
 *           refused: [{ to: '+4915100000002', expected: { code: 'recipient_blocked', provider_code: '21610' } }],
 *           throttled: { to: '+4915112345678', before: () => sim.throttle(1), expected: { retry_after_ms: 1000 } },
 *           unavailable: { why_not: 'Twilio has no answer that says so; what a network does is tried by the suite itself.' },
 *           unknown: { to: '+4915112345678', before: () => sim.hang() },
 *         },
 *         taken: () => sim.messages.length,
 *         several: { why_not: 'One call is one message.' },
 *         hostile: (url) => ({ tools: providerTools({ url }), connection }),
 *         callbacks: { proof: 'content', sign, samples: [{ name: 'a receipt', call, reports: [{ kind: 'delivery_receipt', … }] }] },
 *       }
 *     })
 *
 * What an adapter does not have is not tried: its `asked`, `receipt`, `session`, `template`, `media` and `callbacks` are asked for where it has them. A promise that a provider has
 * no way to be put to is left out by `{ why_not: 'a sentence' }`, never in silence: the reasons are printed below its promises.
 * What only this provider promises (its table of codes, its content types) is tried beside the suite, in the same file.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Outcome, Provider } from '../../src/providers/provider.ts'
import { hidingSecrets } from '../../src/modules/channels/hidden-secrets.ts'
import { tryAsking } from './conformance/asking.ts'
import { tryCallbacks } from './conformance/callbacks.ts'
import { tryDescription } from './conformance/description.ts'
import { givesUp } from './conformance/giving-up.ts'
import { assertOutcome, letsNothingSlip, sender } from './conformance/hand-over.ts'
import { tryMedia } from './conformance/media.ts'
import { tryNetwork } from './conformance/network.ts'
import { tryOddWords } from './conformance/odd-words.ts'
import { tryOwnIds } from './conformance/own-ids.ts'
import { left, type AdapterSamples, type Provoked, type SeveralSample, type Start } from './conformance/samples.ts'
import { trySessions } from './conformance/sessions.ts'
import { tryTemplates } from './conformance/templates.ts'

export type { AdapterSamples, CallbackSamples, Left, Provoked, Start } from './conformance/samples.ts'

export function adapterSuite(described: Provider, start: Start): void {
  // as the service calls it
  const provider: Provider = { ...described, adapter: (tools) => hidingSecrets(described, described.adapter(tools)) }
  const begin = async (t: TestContext): Promise<AdapterSamples> => {
    const samples = await start(t)
    t.after(() => samples.tools.http.close())
    return samples
  }
  test(`${provider.name} keeps the contract`, async (suite) => {
    // looked at, to know which promises there are; each of them begins anew
    const samples = await begin(suite)
    await tryDescription(suite, provider, begin)
    await tryOutcomes(suite, provider, begin, samples)
    await trySeveral(suite, provider, begin, samples)
    await tryConnecting(suite, provider, begin, samples)
    await tryNetwork(suite, provider, begin, samples)
    await tryOddWords(suite, provider, begin, samples)
    await tryAsking(suite, provider, begin, samples)
    await tryOwnIds(suite, provider, begin, samples)
    await trySessions(suite, provider, begin, samples)
    await tryCallbacks(suite, provider, begin, samples)
    await tryTemplates(suite, provider, begin, samples)
    await tryMedia(suite, provider, begin, samples)
    for (const why_not of reasonsOf(samples)) suite.diagnostic(`${provider.name}: ${why_not}`)
  })
}

/** Why promises were left out. */
const reasonsOf = ({ outcomes, wrongConnection, taken, several, hostile, receipt }: AdapterSamples): Set<string> =>
  new Set(
    [...Object.values(outcomes), wrongConnection, taken, several, hostile, receipt ?? {}].flatMap((given) =>
      left(given) ? [given.why_not] : [],
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
    await suite.test(`answers ${kind} as a value`, async (t) => {
      const samples = await begin(t)
      for (const { to, before, content, expected } of provokedOf(samples, kind)) {
        await before?.()
        const send = await sender(t, provider, samples)

        const outcome = await send({ to, ...content })

        assert.deepEqual({ ...outcome, ...expected, kind }, outcome, `to ${to}`)
        assertOutcome(outcome)
        letsNothingSlip(provider, samples.connection, outcome)
      }
    })
  }

  await suite.test('gives every message an id of its own', async (t) => {
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

  await suite.test('has a value for whatever text', async (t) => {
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

  await suite.test('hands nothing over that was given up before, and rejects nobody', async (t) =>
    givesUp(t, provider, await begin(t)),
  )
}

/** How an outcome is brought about, in one or several ways. */
function provokedOf({ outcomes }: AdapterSamples, kind: Outcome['kind']): readonly [Provoked, ...Provoked[]] {
  const provoked = outcomes[kind]
  assert.ok(!left(provoked), `every provider can be brought to ${kind}`)
  return (Array.isArray(provoked) ? provoked : [provoked]) as [Provoked, ...Provoked[]]
}

async function trySeveral(suite: TestContext, provider: Provider, begin: Start, given: AdapterSamples): Promise<void> {
  if (left(given.several)) return
  await suite.test(
    `sends the rest alone of a message that was taken in part, whichever process repeats it`,
    async (t) => {
      const samples = await begin(t)
      const several = samples.several as SeveralSample
      several.breakAfterFirst('later')
      const broken = await (await sender(t, provider, samples))(several.message)
      const already_accepted = broken.kind === 'accepted' ? [] : [...(broken.provider_ids ?? [])]

      const whole = await (await sender(t, provider, samples))({ ...several.message, attempt: 2, already_accepted })

      assert.ok(['throttled', 'unavailable', 'unknown'].includes(broken.kind), JSON.stringify(broken))
      assert.ok(already_accepted.length > 0, 'it tells what was taken')
      assertOutcome(broken)
      assert.ok(whole.kind === 'accepted', JSON.stringify(whole))
      assert.deepEqual(whole.provider_ids.slice(0, already_accepted.length), already_accepted)
      assert.deepEqual(
        [whole.provider_ids.length, new Set(whole.provider_ids).size, several.taken()],
        [several.count, several.count, several.count],
      )
    },
  )

  await suite.test(
    `tells of each part before the next one goes, and sends the rest later where it is told to`,
    async (t) => {
      const samples = await begin(t)
      const several = samples.several as SeveralSample
      const told: (readonly string[])[] = []
      const send = await sender(t, provider, samples)

      const stopped = await send(several.message, never, async (ids) => {
        told.push(ids)
        assert.equal(several.taken(), ids.length, 'nothing went ahead')
        return null
      })
      const before = several.taken()
      const already_accepted = stopped.kind === 'accepted' ? [] : [...(stopped.provider_ids ?? [])]
      const whole = await send(
        { ...several.message, attempt: 2, already_accepted },
        never,
        async (ids) => (told.push(ids), never),
      )

      assertOutcome(stopped)
      assert.deepEqual([stopped.kind, already_accepted, before], ['unavailable', told[0], already_accepted.length])
      assert.ok(whole.kind === 'accepted' && before < several.count, JSON.stringify(whole))
      assert.equal(several.taken(), several.count)
      // the outcome itself tells the last part
      for (const ids of told) assert.deepEqual(whole.provider_ids.slice(0, ids.length), ids)
      assert.ok(told.every(({ length }) => length < several.count))
    },
  )

  await suite.test(`tells what was taken of a message of which the rest is refused`, async (t) => {
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
  await suite.test('takes credentials that are right', async (t) => {
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
  await suite.test('refuses credentials that are wrong, with a sentence', async (t) => {
    const samples = await begin(t)
    const given = samples.wrongConnection as typeof wrongConnection

    const wrong = await provider.adapter(samples.tools).connect!(given, never)

    assert.equal(wrong.kind, 'refused', JSON.stringify(wrong))
    letsNothingSlip(provider, given, wrong)
    if (wrong.kind === 'refused') assert.match(wrong.message, /[.!?]$/)
  })
}
