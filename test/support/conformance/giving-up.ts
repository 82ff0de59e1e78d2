/** The signal of the conformance suite: what is given up before it begins is not handed over. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Provider } from '../../../src/providers/provider.ts'
import { assertOutcome, sender } from './hand-over.ts'
import { left, type AdapterSamples, type Provoked } from './samples.ts'

export async function givesUp(t: TestContext, provider: Provider, samples: AdapterSamples): Promise<void> {
  const { outcomes, taken } = samples
  assert.ok(!left(outcomes.accepted), 'every provider can be brought to accept')
  const [{ to, before, content }] = [outcomes.accepted].flat() as [Provoked]
  await before?.()
  const send = await sender(t, provider, samples)

  const outcome = await send({ to, ...content }, AbortSignal.abort(new Error('given up')))

  assertOutcome(outcome)
  // nothing leaves the process, so that there is nothing to give up
  if (provider.adapter(samples.tools).instant === true) return
  assert.ok(
    outcome.kind === 'unavailable' || outcome.kind === 'unknown',
    `it was given up, and is ${JSON.stringify(outcome)}`,
  )
  if (left(taken)) return
  // a request that had been begun all the same has arrived by the time that a later one has its answer
  const other = await send({ to, ...content, id: 'msg_00000000000000000000000009' })
  assert.deepEqual([other.kind, taken()], ['accepted', 1], 'what was given up before it began was sent')
}
