/** The test message of a channel that was just connected: sent as any other, and followed until nothing more is to be expected. */
import type { App } from '../app.ts'
import type { Tenant } from '../contract/caller.ts'
import { Problem } from '../contract/problem.ts'
import type { Channel } from '../contract/resources/channel.ts'
import type { MessageStatus } from '../contract/resources/message.ts'

export interface TestMessage {
  /** null where it was refused. */
  readonly id: string | null
  readonly status: MessageStatus | null
  /** What went wrong, if anything did. */
  readonly error: { readonly code: string; readonly message: string } | null
  /** What to do next: a sentence. */
  readonly next: string
}

const followMs = 60_000
const betweenLooksMs = 500
const final: readonly MessageStatus[] = ['delivered', 'read', 'failed']

/** WhatsApp takes nothing but a template before the recipient has written; `hello_world` is the sample that every account has. */
const contentOf = ({ type }: Channel): object =>
  type === 'whatsapp'
    ? { type: 'template', template: { name: 'hello_world', language: { code: 'en_US' } } }
    : { type: 'text', text: { body: 'This is a test message of Posthorn.' } }

/** Never throws what refuses the message: the channel is connected all the same. `told` hears of each status. */
export async function sendTestMessage(app: App, tenant: Tenant, channel: Channel, to: string, told: (status: MessageStatus) => void): Promise<TestMessage> {
  const { messages } = app.services
  try {
    const message = await messages.check(tenant, { channel: channel.id, to, ...contentOf(channel) })
    const [outcome] = await messages.submit({ origin: { type: 'console', id: null }, traffic: 'interactive', items: [{ message }] })
    if (outcome?.kind === 'accepted') return await follow(app, tenant, outcome.row.id, told)
    return refused(outcome?.kind === 'no_funds' ? 'insufficient_balance' : outcome?.kind === 'refused' ? outcome.code : 'upstream_unavailable')
  } catch (error) {
    if (error instanceof Problem)
      return { id: null, status: null, error: { code: error.code, message: error.message }, next: 'Send one through the API once that is mended.' }
    throw error
  }
}

function refused(code: 'insufficient_balance' | 'recipient_blocked' | 'policy_violation' | 'parameter_invalid' | 'upstream_unavailable'): TestMessage {
  const next =
    code === 'insufficient_balance'
      ? 'Credit the wallet with `posthorn wallet credit`, then send one through the API.'
      : 'Send one through the API once that is mended.'
  return { id: null, status: null, error: { code, message: new Problem(code).message }, next }
}

async function follow(app: App, tenant: Tenant, id: string, told: (status: MessageStatus) => void): Promise<TestMessage> {
  const { clock, pool } = app.platform
  await app.flush()
  const until_ms = clock.now() + followMs
  let last: MessageStatus | undefined
  for (;;) {
    const { status, error } = await app.services.messages.get(pool, tenant, id)
    if (status !== last) told(status)
    last = status
    if (final.includes(status) || clock.now() >= until_ms) {
      const shown = error === null ? null : { code: error.code, message: error.message }
      return { id, status, error: shown, next: nextAfter(status) }
    }
    await clock.sleep(betweenLooksMs)
  }
}

function nextAfter(status: MessageStatus): string {
  if (status === 'failed') return 'Mend what its error says, then send one through the API.'
  if (status === 'sent') return 'The provider took it and has not told of its delivery yet: check that it calls webhook_url.'
  if (status === 'queued' || status === 'sending') return 'It waits: it goes out as soon as `posthorn serve` runs.'
  return 'It arrived.'
}
