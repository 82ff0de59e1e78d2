/** A provider for tests and benchmarks, controlled by channel settings and the recipient's digits. */
import { Type } from 'typebox'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import type { Clock } from '../../lib/clock.ts'
import { hmacHex, sameText } from '../../lib/hmac.ts'
import { isObject, parsedObject } from '../../lib/json.ts'
import type {
  Callback,
  CallbackResult,
  Connection,
  InboundMessage,
  Outcome,
  OutboundMessage,
  Provider,
  DeliveryReceipt,
} from '../provider.ts'

const outcomes: Readonly<Record<string, (message: OutboundMessage) => Outcome>> = {
  '0001': () => ({
    kind: 'refused',
    code: 'provider_error',
    provider_code: 'simulator_rejected',
    message: 'The simulated provider rejected the message.',
  }),
  '0021': (message) =>
    message.attempt < 3
      ? {
          kind: 'throttled',
          limit_on: 'recipient',
          retry_after_ms: 500,
          provider_code: 'simulator_throttled',
          message: 'Too many messages at once.',
        }
      : accepted(message, ['deliver']),
  '0022': (message) =>
    message.attempt < 3
      ? {
          kind: 'unavailable',
          provider_code: 'simulator_down',
          message: 'The simulated provider could not be reached.',
        }
      : accepted(message, ['deliver']),
  '0023': (message) =>
    message.attempt < 2
      ? { kind: 'unknown', message: 'The simulated provider did not answer.' }
      : accepted(message, ['deliver']),
  '0024': () => ({
    kind: 'throttled',
    limit_on: 'recipient',
    provider_code: 'simulator_throttled',
    message: 'Too many messages at once.',
  }),
  '0025': (message) =>
    message.attempt < 3
      ? {
          kind: 'throttled',
          limit_on: 'channel',
          provider_code: 'simulator_throttled',
          message: 'The simulated provider throttles the channel.',
        }
      : accepted(message, ['deliver']),
  '0002': (message) => accepted(message, ['fail']),
  '0005': (message) => accepted(message, []),
  '0010': (message) => accepted(message, ['deliver', 'open']),
  '0014': (message) => accepted(message, ['open', 'deliver']),
}

function accepted(message: OutboundMessage, steps: readonly ('deliver' | 'open' | 'fail')[]): Outcome {
  const provider_id = `simulator-${message.id}`
  return {
    kind: 'accepted',
    provider_ids: [provider_id],
    later_items: steps.map((step, index) => ({ after_ms: index * 20, item: receipt(provider_id, step) })),
  }
}

function receipt(provider_id: string, transition: 'deliver' | 'open' | 'fail'): DeliveryReceipt {
  if (transition !== 'fail') return { kind: 'delivery_receipt', provider_id, transition }
  return {
    kind: 'delivery_receipt',
    provider_id,
    transition,
    error: {
      code: 'provider_error',
      message: 'The simulated provider could not deliver the message.',
      provider_code: 'simulator_undeliverable',
    },
  }
}

async function send(
  clock: Clock,
  message: OutboundMessage,
  connection: Connection,
  signal: AbortSignal,
): Promise<Outcome> {
  const latency_ms = connection.settings['latency_ms']
  if (typeof latency_ms === 'number') await clock.sleep(Math.min(latency_ms, 60_000), signal)
  if (signal.aborted) return { kind: 'unknown', message: 'The simulated provider did not answer in time.' }
  if (connection.settings['offline'] === true)
    return {
      kind: 'refused',
      code: 'channel_not_connected',
      provider_code: 'simulator_offline',
      message: 'The simulated provider is offline.',
      channel_lost: true,
    }
  const digits = /^\+1999555(\d{4})$/.exec(message.to)?.[1]
  return (digits === undefined ? undefined : outcomes[digits])?.(message) ?? accepted(message, ['deliver'])
}

/** Reads `{"reports": […]}`: delivery receipts (`kind` is `receipt`, `move` the transition) and inbound messages. */
function receiveCallback(callback: Callback, { credentials }: Connection): CallbackResult | null {
  const secret = credentials['callback_secret']
  const signature = callback.headers['x-simulator-signature'] ?? ''
  if (typeof secret !== 'string' || !sameText(hmacHex(secret, callback.body), signature)) return null
  const reports = parsedObject(callback.body)?.['reports']
  return { items: Array.isArray(reports) ? reports.flatMap(itemsOf) : [] }
}

function itemsOf(value: unknown): (DeliveryReceipt | InboundMessage)[] {
  if (!isObject(value)) return []
  const { kind, move, ...item } = value
  if (typeof item['provider_id'] !== 'string' || item['provider_id'] === '') return []
  if (kind === 'receipt')
    return ['accept', 'deliver', 'open', 'fail'].includes(String(move))
      ? [{ ...item, kind: 'delivery_receipt', transition: move } as unknown as DeliveryReceipt]
      : []
  return kind === 'inbound' && typeof item['from'] === 'string' && typeof item['type'] === 'string'
    ? [{ ...item, kind } as unknown as InboundMessage]
    : []
}

export const simulator: Provider = {
  name: 'simulator',
  title: 'Simulator',
  about: 'Replaces a provider in live mode, for tests and benchmarks; offered only if POSTHORN_SIMULATOR is set.',
  types: ['whatsapp', 'sms', 'telegram'],
  offered: 'for_tests',
  credentials: Type.Object({
    refuse: Type.Optional(Type.Boolean({ title: 'Refuse', description: 'Refuse these credentials.' })),
    callback_secret: Type.Optional(
      Type.String({
        title: 'Callback secret',
        format: 'password',
        description: 'Key of the hex HMAC-SHA256 in `x-simulator-signature` over the raw body of callbacks.',
      }),
    ),
  }),
  settings: Type.Object({
    offline: Type.Optional(
      Type.Boolean({ title: 'Offline', description: 'The simulated provider cannot be reached.', default: false }),
    ),
    latency_ms: Type.Optional(
      Type.Integer({
        title: 'Latency',
        description: 'Milliseconds before it answers.',
        minimum: 0,
        default: 0,
      }),
    ),
  }),
  identifier: 'required',
  capabilities: (type, settings) =>
    type === 'sms' && settings['mms'] === true ? ['text', 'attachments'] : capabilitiesOf[type],
  adapter: ({ clock, http }) => ({
    send: (message, connection, signal) => send(clock, message, connection, signal),
    receiveCallback,
    fetchMedia: (reference, _connection, bytes_max, signal) =>
      http.download({ method: 'GET', url: reference['url'] ?? '', answer_bytes_max: bytes_max, signal }),
    connect: async ({ credentials, settings }) => {
      if (credentials['refuse'] === true)
        return { kind: 'refused', message: 'The simulated provider refuses these credentials.' }
      return settings['offline'] === true
        ? { kind: 'unavailable', message: 'The simulated provider is offline.' }
        : { kind: 'connected' }
    },
  }),
}
