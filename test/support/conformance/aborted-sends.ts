/** Conformance: a send attempt aborted before it began sends nothing. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Provider } from '../../../src/providers/provider.ts'
import { assertOutcome, sender } from './send-attempts.ts'
import { left, type AdapterSamples, type Provoked } from './samples.ts'

export async function abortedSendsNothing(t: TestContext, provider: Provider, samples: AdapterSamples): Promise<void> {
  const { outcomes, taken } = samples
  assert.ok(!left(outcomes.accepted), 'every provider can be brought to accept')
  const [{ to, before, content }] = [outcomes.accepted].flat() as [Provoked]
  await before?.()
  const send = await sender(t, provider, samples)

  const outcome = await send({ to, ...content }, AbortSignal.abort(new Error('aborted')))

  assertOutcome(outcome)
  if (provider.adapter(samples.tools).instant === true) return
  assert.ok(
    outcome.kind === 'unavailable' || outcome.kind === 'unknown',
    `it was aborted, and is ${JSON.stringify(outcome)}`,
  )
  if (left(taken)) return
  // an earlier request would have arrived before this one
  const other = await send({ to, ...content, id: 'msg_00000000000000000000000009' })
  assert.deepEqual([other.kind, taken()], ['accepted', 1], 'an aborted send attempt was sent')
}
