/** What every provider promises, whatever it speaks: run it with samples of the provider's answers. The suite is the definition of the contract. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capabilitiesOf } from '../../src/contract/resources/channel.ts'
import type { Callback, Connection, Outcome, OutboundMessage, Provider, ProviderTools } from '../../src/features/channels/adapter.ts'

export interface AdapterSamples {
  readonly connection: Connection
  /** A recipient for each outcome that the provider can answer. */
  readonly recipients: Partial<Record<Outcome['kind'], string>>
  /** A signed callback with the reports in it, when the provider calls back. */
  readonly callback?: { readonly call: Callback; readonly reports: number }
}

const message = (to: string, id = 'msg_00000000000000000000000001'): OutboundMessage => ({
  id,
  channel_id: 'ch_1',
  to,
  from: '+4915100000001',
  type: 'text',
  content: { body: 'Hi' },
  reply_to: null,
  attempt: 1,
  expires_at: null,
})

export function adapterSuite(provider: Provider, tools: ProviderTools, samples: AdapterSamples): void {
  const { connection, recipients, callback } = samples
  const adapter = provider.adapter(tools)
  const send = (to: string, id?: string) => adapter.send!(message(to, id), connection, new AbortController().signal)

  for (const [kind, to] of Object.entries(recipients)) {
    test(`${provider.name} answers ${kind} as a value`, async () => {
      const outcome = await send(to)

      assert.equal(outcome.kind, kind)
      if (outcome.kind === 'accepted') for (const { after_ms, report } of outcome.reports ?? []) assert.ok(after_ms >= 0 && report.provider_id.length > 0)
      if (outcome.kind === 'refused') assert.ok(outcome.message.length > 0 && (outcome.provider_code === null || typeof outcome.provider_code === 'string'))
    })
  }

  test(`${provider.name} gives every message an id of its own, and the same message the same one`, async () => {
    const to = recipients.accepted!
    const ids = await Promise.all(
      ['msg_00000000000000000000000001', 'msg_00000000000000000000000002', 'msg_00000000000000000000000001'].map((id) => send(to, id)),
    )
    const [one, other, again] = ids.map((outcome) => (outcome.kind === 'accepted' ? outcome.provider_ids[0] : ''))

    assert.notEqual(one, other)
    assert.equal(one, again)
  })

  test(`${provider.name} carries only what its channel types can carry`, () => {
    for (const type of provider.types) {
      const able = provider.capabilities(type, {})
      assert.ok(able.length > 0)
      assert.deepEqual(
        able.filter((capability) => !capabilitiesOf[type].includes(capability)),
        [],
      )
    }
  })

  if (callback === undefined || adapter.receive === undefined) return
  test(`${provider.name} reads a signed callback and refuses any other`, () => {
    const { call, reports } = callback
    const forged = { ...call, body: Buffer.concat([Buffer.from(call.body), Buffer.from(' ')]) }
    const unsigned = { ...call, headers: {} }

    assert.equal(adapter.receive!(call, connection)?.reports.length, reports)
    assert.equal(adapter.receive!(forged, connection), null)
    assert.equal(adapter.receive!(unsigned, connection), null)
  })
}
