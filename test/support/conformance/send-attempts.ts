/** Conformance: send attempts as dispatch makes them, and checks of outcomes. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { messageErrorCodes } from '../../../src/api/resources/message.ts'
import type {
  StatusQueryResult,
  Connection,
  LimitOn,
  UnconfirmedMessage,
  SessionContext,
  Outcome,
  OutboundMessage,
  OnPartAccepted,
  Provider,
  ProviderTools,
} from '../../../src/providers/provider.ts'
import { assertReport } from './callback-items.ts'

export type Send = (
  message: Partial<OutboundMessage> & { readonly to: string },
  signal?: AbortSignal,
  took?: OnPartAccepted,
) => Promise<Outcome>

const never = new AbortController().signal

export const messageOf = (
  connection: Connection,
  overrides: Partial<OutboundMessage> & { readonly to: string },
): OutboundMessage => ({
  id: 'msg_00000000000000000000000001',
  channel_id: connection.channel_id,
  from: connection.identifier,
  type: 'text',
  content: { body: 'Hi' },
  reply_to: null,
  attempt: 1,
  first_sent_at: null,
  already_accepted: [],
  expires_at: null,
  ...overrides,
})

export const unconfirmed = (
  message: OutboundMessage,
  handed_over_until = '2100-01-01T00:00:00.000Z',
): UnconfirmedMessage => ({
  ...message,
  last_attempt_ended_at: handed_over_until,
})

export const openingOf = (overrides: Partial<SessionContext> = {}): SessionContext => ({
  store: () => Promise.resolve(),
  signal: never,
  hasLease: () => true,
  ...overrides,
})

export async function sender(
  t: TestContext,
  provider: Provider,
  { tools, connection }: { tools: ProviderTools; connection: Connection },
): Promise<Send> {
  const adapter = provider.adapter(tools)
  if (adapter.send !== undefined)
    return (overrides, signal = never, took) =>
      adapter.send!(messageOf(connection, overrides), connection, signal, took)
  const opened = await adapter.openSession!(connection, openingOf())
  assert.equal(opened.kind, 'open', JSON.stringify(opened))
  if (opened.kind !== 'open') throw new Error('unreachable')
  t.after(() => opened.session.close(AbortSignal.abort()))
  return (overrides, signal = never, took) => opened.session.send!(messageOf(connection, overrides), signal, took)
}

const limitsOn: readonly LimitOn[] = ['channel', 'recipient', 'unspecified']

export function assertOutcome(outcome: Outcome): void {
  const seen = JSON.stringify(outcome)
  if (outcome.kind === 'accepted') {
    assert.ok(outcome.provider_ids.length > 0, seen)
    for (const id of outcome.provider_ids) assert.ok(typeof id === 'string' && id !== '' && id.length <= 255, seen)
    for (const { after_ms, item: report } of outcome.later_items ?? []) {
      assert.ok(after_ms >= 0, seen)
      assertReport(report)
    }
    return
  }
  for (const id of outcome.provider_ids ?? []) assert.ok(typeof id === 'string' && id !== '' && id.length <= 255, seen)
  assert.ok(
    typeof outcome.message === 'string' && outcome.message.trim() !== '' && outcome.message.length <= 1000,
    seen,
  )
  if (outcome.kind !== 'unknown')
    assert.ok(
      outcome.provider_code === null ||
        (typeof outcome.provider_code === 'string' &&
          outcome.provider_code !== '' &&
          outcome.provider_code.length <= 100),
      seen,
    )
  if (outcome.kind === 'refused') assert.ok(messageErrorCodes.includes(outcome.code), seen)
  if (outcome.kind === 'throttled')
    assert.ok(limitsOn.includes(outcome.limit_on), `it says what its limit is on: ${seen}`)
  if (outcome.kind === 'throttled' && outcome.retry_after_ms !== undefined) {
    assert.ok(
      Number.isFinite(outcome.retry_after_ms) && outcome.retry_after_ms >= 0 && outcome.retry_after_ms <= 24 * 3600_000,
      seen,
    )
  }
}

export function assertStatusQueryResult(result: StatusQueryResult): void {
  const seen = JSON.stringify(result)
  for (const { provider_ids, receipt } of result.kind === 'candidates'
    ? result.found
    : result.kind === 'found'
      ? [result]
      : []) {
    assertOutcome({
      kind: 'accepted',
      provider_ids,
      later_items: receipt === undefined ? [] : [{ after_ms: 0, item: receipt }],
    })
  }
  if (result.kind === 'refused') assertOutcome(result)
  if (result.kind === 'no_answer') assert.match(result.message, /[.!?]$/, seen)
}

export function assertNoSecrets(provider: Provider, connection: Connection, said: unknown): void {
  const text = said instanceof Error ? `${said.message} ${said.stack}` : JSON.stringify(said)
  const decoded =
    text.match(/[A-Za-z0-9+/=]{12,}/g)?.map((word) => Buffer.from(word, 'base64').toString('latin1')) ?? []
  const declared = provider.credentials.properties as Readonly<Record<string, { readonly format?: string }>>
  for (const [name, value] of Object.entries(connection.credentials)) {
    if (declared[name]?.format !== 'password' || typeof value !== 'string' || value.length < 6) continue
    for (const one of [text, ...decoded]) assert.ok(!one.includes(value), `${name} shows in ${text}`)
  }
}
