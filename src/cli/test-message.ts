/** Sends a test message on a new channel, and follows it to its final status. */
import type { App } from '../app.ts'
import type { Tenant } from '../api/caller.ts'
import { limits } from '../api/limits.ts'
import { Problem } from '../api/problem.ts'
import type { Channel } from '../api/resources/channel.ts'
import type { MessageStatus } from '../api/resources/message.ts'
import { isoTime } from '../lib/clock.ts'
import { isAnyWorkerAlive } from '../platform/jobs/process-registry.ts'

export interface TestMessage {
  /** null if it was refused. */
  readonly id: string | null
  readonly status: MessageStatus | null
  readonly error: { readonly code: string; readonly message: string } | null
  /** A sentence. */
  readonly next: string
}

interface Observation {
  readonly status: MessageStatus
  readonly error: { readonly code: string; readonly message: string } | null
  readonly isServed: boolean
  /** `none`: the channel needs none. `waiting`: no process has it yet. */
  readonly session: 'none' | 'waiting' | 'held'
  readonly isConnected: boolean
  readonly lastAnswer: string | null
}

const followMs = 60_000
const pollMs = 500
const final: readonly MessageStatus[] = ['delivered', 'read', 'failed']

/** Telegram reports no deliveries. */
const isFinal = ({ type }: Channel, status: MessageStatus): boolean =>
  final.includes(status) || (type === 'telegram' && status === 'sent')

/** WhatsApp requires a template before the recipient has written; every account has `hello_world`. */
const contentOf = ({ type }: Channel): object =>
  type === 'whatsapp'
    ? { type: 'template', template: { name: 'hello_world', language: { code: 'en_US' } } }
    : { type: 'text', text: { body: 'This is a test message of Posthorn.' } }

/** Resolves also for a refused message. Calls `told` with each status, and the reason for waiting. */
export async function sendTestMessage(
  app: App,
  tenant: Tenant,
  channel: Channel,
  to: string,
  told: (seen: string) => void,
): Promise<TestMessage> {
  const { messages } = app.services
  try {
    const message = await messages.check(tenant, { channel: channel.id, to, ...contentOf(channel) })
    const [outcome] = await messages.submit({
      origin: { type: 'console', id: null },
      traffic: 'interactive',
      items: [{ message }],
    })
    if (outcome?.kind === 'accepted') return await follow(app, tenant, channel, outcome.row.id, told)
    return refused(
      outcome?.kind === 'no_funds'
        ? 'insufficient_balance'
        : outcome?.kind === 'refused'
          ? outcome.code
          : 'upstream_unavailable',
    )
  } catch (error) {
    if (error instanceof Problem)
      return {
        id: null,
        status: null,
        error: { code: error.code, message: error.message },
        next: 'Fix this, then send a message through the API.',
      }
    throw error
  }
}

function refused(
  code:
    | 'insufficient_balance'
    | 'recipient_blocked'
    | 'policy_violation'
    | 'parameter_invalid'
    | 'upstream_unavailable',
): TestMessage {
  const next =
    code === 'insufficient_balance'
      ? 'Credit the wallet with `posthorn wallet credit`, then send a message through the API.'
      : 'Fix this, then send a message through the API.'
  return { id: null, status: null, error: { code, message: new Problem(code).message }, next }
}

/** For a minute, or until it is final; not at all without a worker process. */
async function follow(
  app: App,
  tenant: Tenant,
  channel: Channel,
  id: string,
  told: (seen: string) => void,
): Promise<TestMessage> {
  const { clock } = app.platform
  await app.flush()
  const until_ms = clock.elapsed() + followMs
  let last: string | undefined
  for (;;) {
    const observed = await observe(app, tenant, id, channel.id)
    const { status, error, isServed } = observed
    const seen = [status, ...waitingFor(channel, observed)].join('; ')
    if (seen !== last) told(seen)
    last = seen
    if (isFinal(channel, status) || (status === 'queued' && !isServed) || clock.elapsed() >= until_ms)
      return { id, status, error, next: nextAfter(channel, observed) }
    await clock.sleep(pollMs)
  }
}

async function observe(
  { platform, services }: App,
  tenant: Tenant,
  id: string,
  channel_id: string,
): Promise<Observation> {
  const { clock, pool } = platform
  const { status, error } = await services.messages.get(pool, tenant, id)
  const [last] = await services.messages.attempts(pool, tenant, id)
  const channel = await services.channels.get(tenant, channel_id)
  const session = !services.channels.needsSession(channel)
    ? 'none'
    : (await services.channels.isSessionLeased(pool, channel_id))
      ? 'held'
      : 'waiting'
  return {
    status,
    error: error === null ? null : { code: error.code, message: error.message },
    isServed: await isAnyWorkerAlive(pool, isoTime(clock.now() - limits.process_silent_ms)),
    session,
    isConnected: channel.connection_status === 'connected',
    lastAnswer:
      last === undefined || last.outcome === 'accepted'
        ? null
        : `${last.outcome}, ${last.provider_message ?? 'without a reason'}`,
  }
}

function waitingFor(channel: Channel, { status, isServed, session, isConnected, lastAnswer }: Observation): string[] {
  if (status === 'sent' && !isFinal(channel, status)) return ['waiting up to a minute for the delivery']
  if (status !== 'queued' && status !== 'sending') return []
  if (!isServed) return ['no worker process is running']
  if (!isConnected) return ['the channel is disconnected']
  if (session === 'waiting') return ['no process has a session with the provider yet']
  if (lastAnswer !== null) return [lastAnswer]
  return session === 'held' && status === 'queued'
    ? ['waiting for the session with the provider, or for its response']
    : []
}

function nextAfter({ type }: Channel, observed: Observation): string {
  const { status, isServed, session, isConnected, lastAnswer } = observed
  if (status === 'failed') return 'Fix the error, then send a message through the API.'
  if (status === 'sent' && type === 'telegram') return 'Check the phone: Telegram does not report deliveries.'
  if (status === 'sent')
    return session === 'none'
      ? 'The provider accepted it and has not reported a delivery yet. Check that it calls webhook_url.'
      : 'The provider accepted it and reported no delivery within a minute. Ask the provider whether delivery receipts are enabled for the session.'
  if (status !== 'queued' && status !== 'sending') return 'It was delivered.'
  if (!isServed) return 'It is queued, and is sent as soon as `posthorn serve` runs.'
  if (!isConnected)
    return 'The connection to the provider is lost; the log of `posthorn serve` shows why. The message is sent once it is connected again.'
  if (lastAnswer !== null)
    return `The last send attempt failed (${lastAnswer}). It is retried automatically; GET /v1/messages/{id}/attempts lists the attempts.`
  if (session !== 'none')
    return 'The session with the provider is not established yet: the log of `posthorn serve` shows why. The message is sent as soon as it is.'
  return 'The provider has not answered yet. Check GET /v1/messages/{id} later.'
}
