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
 *         several: { why_not: 'One call is one message.' },
 *         hostile: (url) => ({ tools: providerTools({ url }), connection }),
 *         callbacks: { proof: 'content', sign, samples: [{ name: 'a receipt', call, reports: [{ kind: 'receipt', … }] }] },
 *       }
 *     })
 *
 * A promise that a provider has no way to be put to is left out by `{ why_not: 'a sentence' }`, never in silence: it shows as skipped, with its reason.
 * What only this provider promises (its table of codes, its content types) is tried beside the suite, in the same file.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Outcome, Provider } from '../../src/features/channels/adapter.ts'
import { tryCallbacks } from './conformance/callbacks.ts'
import { tryDescription } from './conformance/description.ts'
import { assertOutcome, letsNothingSlip, sender } from './conformance/hand-over.ts'
import { tryMedia } from './conformance/media.ts'
import { tryNetwork } from './conformance/network.ts'
import { left, type AdapterSamples, type Provoked, type Start } from './conformance/samples.ts'

export type { AdapterSamples, CallbackSamples, Left, Provoked, Start } from './conformance/samples.ts'

export function adapterSuite(provider: Provider, start: Start): void {
  const begin = async (t: TestContext): Promise<AdapterSamples> => {
    const samples = await start(t)
    t.after(() => samples.tools.http.close())
    return samples
  }
  tryDescription(provider, begin)
  tryOutcomes(provider, begin)
  trySeveral(provider, begin)
  tryConnecting(provider, begin)
  tryNetwork(provider, begin)
  tryCallbacks(provider, begin)
  tryMedia(provider, begin)
}

const kinds: readonly Outcome['kind'][] = ['accepted', 'refused', 'throttled', 'unavailable', 'unknown']

function tryOutcomes(provider: Provider, begin: Start): void {
  for (const kind of kinds) {
    test(`${provider.name} answers ${kind} as a value`, async (t) => {
      const samples = await begin(t)
      const provoked = samples.outcomes[kind]
      if (left(provoked)) return t.skip(provoked.why_not)
      for (const { to, before, content, expected } of Array.isArray(provoked) ? provoked : [provoked]) {
        await before?.()
        const send = await sender(t, provider, samples)

        const outcome = await send({ to, ...content })

        assert.deepEqual({ ...outcome, ...expected, kind }, outcome, `to ${to}`)
        assertOutcome(outcome)
        letsNothingSlip(provider, samples.connection, outcome)
      }
    })
  }

  test(`${provider.name} gives every message an id of its own`, async (t) => {
    const samples = await begin(t)
    const provoked = samples.outcomes.accepted
    if (left(provoked)) return t.skip(provoked.why_not)
    const [{ to, before, content }] = (Array.isArray(provoked) ? provoked : [provoked]) as [Provoked]
    await before?.()
    const send = await sender(t, provider, samples)

    const outcomes = await Promise.all(['1', '2'].map((end) => send({ to, ...content, id: `msg_0000000000000000000000000${end}` })))

    const ids = outcomes.flatMap((outcome) => (outcome.kind === 'accepted' ? outcome.provider_ids : []))
    assert.ok(ids.length >= 2 && new Set(ids).size === ids.length, ids.join(', '))
  })

  test(`${provider.name} has a value for whatever text`, async (t) => {
    const samples = await begin(t)
    const provoked = samples.outcomes.accepted
    if (left(provoked)) return t.skip(provoked.why_not)
    const [{ to }] = (Array.isArray(provoked) ? provoked : [provoked]) as [Provoked]
    const send = await sender(t, provider, samples)
    for (const body of ['x'.repeat(1600), '😀'.repeat(400), '\u0000', 'a\r\nb: c', '"\\\'<&>{{1}}%00', '€^{}[]~|\\', '\u202e\ufeff'])
      assertOutcome(await send({ to, content: { body } }))
  })

  test(`${provider.name} gives up by its signal, and rejects nobody`, async (t) => {
    const samples = await begin(t)
    const provoked = samples.outcomes.accepted
    if (left(provoked)) return t.skip(provoked.why_not)
    const [{ to }] = (Array.isArray(provoked) ? provoked : [provoked]) as [Provoked]
    const send = await sender(t, provider, samples)

    assertOutcome(await send({ to }, AbortSignal.abort(new Error('given up'))))
  })
}

function trySeveral(provider: Provider, begin: Start): void {
  test(`${provider.name} sends the rest alone of a message that was taken in part, whichever process repeats it`, async (t) => {
    const samples = await begin(t)
    const { several } = samples
    if (left(several)) return t.skip(several.why_not)
    several.breakAfterFirst('later')
    const broken = await (await sender(t, provider, samples))(several.message)
    const already_accepted = broken.kind === 'accepted' ? [] : [...(broken.provider_ids ?? [])]

    const whole = await (await sender(t, provider, samples))({ ...several.message, attempt: 2, already_accepted })

    assert.ok(['throttled', 'unavailable', 'unknown'].includes(broken.kind), JSON.stringify(broken))
    assert.ok(already_accepted.length > 0, 'it tells what was taken')
    assertOutcome(broken)
    assert.ok(whole.kind === 'accepted', JSON.stringify(whole))
    assert.deepEqual(whole.provider_ids.slice(0, already_accepted.length), already_accepted)
    assert.deepEqual([whole.provider_ids.length, new Set(whole.provider_ids).size, several.taken()], [several.count, several.count, several.count])
  })

  test(`${provider.name} tells what was taken of a message of which the rest is refused`, async (t) => {
    const samples = await begin(t)
    const { several } = samples
    if (left(several)) return t.skip(several.why_not)
    several.breakAfterFirst('refused')

    const outcome = await (await sender(t, provider, samples))(several.message)

    assert.ok(outcome.kind === 'refused', JSON.stringify(outcome))
    assert.deepEqual([outcome.provider_ids?.length, (outcome.provider_ids?.length ?? 0) < several.count], [several.taken(), true])
    assertOutcome(outcome)
  })
}

function tryConnecting(provider: Provider, begin: Start): void {
  test(`${provider.name} takes credentials that are right and refuses others, with a sentence`, async (t) => {
    const samples = await begin(t)
    const { connection, wrongConnection } = samples
    const connect = provider.adapter(samples.tools).connect
    if (connect === undefined) return t.skip('It has no credentials to try.')
    const signal = new AbortController().signal

    const right = await connect(connection, signal)
    assert.equal(right.kind, 'connected', JSON.stringify(right))
    if (provider.identifier === 'told') assert.ok(right.kind === 'connected' && (right.identifier ?? '') !== '')
    assert.ok(['connected', 'refused', 'unavailable'].includes((await connect(connection, AbortSignal.abort())).kind))
    if (left(wrongConnection)) return t.skip(wrongConnection.why_not)
    const wrong = await connect(wrongConnection, signal)

    assert.equal(wrong.kind, 'refused', JSON.stringify(wrong))
    letsNothingSlip(provider, wrongConnection, wrong)
    if (wrong.kind === 'refused') assert.match(wrong.message, /[.!?]$/)
  })
}
