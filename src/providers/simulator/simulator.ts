/**
 * A provider for live-mode tests and benches: behaves as told by the channel's settings, or by digits of the recipient.
 * Offered only where POSTHORN_SIMULATOR is set, never in production.
 */
import { Type } from 'typebox'
import { capabilitiesOf } from '../../api/resources/channel.ts'
import type { Clock } from '../../lib/clock.ts'
import { hmacHex, sameText } from '../../lib/hmac.ts'
import type { Callback, Connection, InboundMessage, Outcome, OutboundMessage, Provider, Receipt } from '../provider.ts'

/** Recipients `+1999555nnnn` bring about outcomes; `nnnn` as in the sandbox where it has a twin. */
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
          message: 'The simulated provider takes no more of the channel.',
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
    reports: steps.map((step, index) => ({ after_ms: index * 20, report: receipt(provider_id, step) })),
  }
}

function receipt(provider_id: string, transition: 'deliver' | 'open' | 'fail'): Receipt {
  if (transition !== 'fail') return { kind: 'receipt', provider_id, transition }
  return {
    kind: 'receipt',
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

/** `{"reports": […]}` with reports as adapters tell them, but that a receipt calls its transition `move`; what is none is left out. */
function readCallback(
  callback: Callback,
  { credentials }: Connection,
): { reports: readonly (Receipt | InboundMessage)[] } | null {
  const secret = credentials['callback_secret']
  const signature = callback.headers['x-simulator-signature'] ?? ''
  if (typeof secret !== 'string' || !sameText(hmacHex(secret, callback.body), signature)) return null
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(callback.body).toString('utf8'))
  } catch {
    return { reports: [] } // signed nonsense: acknowledged, kept raw, and nothing to apply
  }
  const reports = (parsed as { reports?: unknown } | null)?.reports
  return { reports: Array.isArray(reports) ? reports.flatMap(reportOf) : [] }
}

function reportOf(value: unknown): (Receipt | InboundMessage)[] {
  if (typeof value !== 'object' || value === null) return []
  const { move, ...report } = value as Record<string, unknown>
  if (typeof report['provider_id'] !== 'string' || report['provider_id'] === '') return []
  if (report['kind'] === 'receipt')
    return ['accept', 'deliver', 'open', 'fail'].includes(String(move))
      ? [{ ...report, transition: move } as unknown as Receipt]
      : []
  return report['kind'] === 'inbound' && typeof report['from'] === 'string' && typeof report['type'] === 'string'
    ? [report as unknown as InboundMessage]
    : []
}

export const simulator: Provider = {
  name: 'simulator',
  title: 'Simulator',
  about:
    'Stands in for a provider in live mode, for tests and benchmarks; offered only where POSTHORN_SIMULATOR is set.',
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
      Type.Boolean({ title: 'Offline', description: 'The simulated provider is out of reach.', default: false }),
    ),
    latency_ms: Type.Optional(
      Type.Integer({
        title: 'Latency',
        description: 'So many milliseconds pass before it answers.',
        minimum: 0,
        default: 0,
      }),
    ),
  }),
  identifier: 'given',
  capabilities: (type, settings) =>
    type === 'sms' && settings['mms'] === true ? ['text', 'attachments'] : capabilitiesOf[type],
  adapter: ({ clock, http }) => ({
    send: (message, connection, signal) => send(clock, message, connection, signal),
    receive: readCallback,
    media: (reference, _connection, bytes_max, signal) =>
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
