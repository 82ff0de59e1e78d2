/** A provider controlled by a test; it survives killed processes. */
import { Type } from 'typebox'
import { capabilitiesOf } from '../../src/api/resources/channel.ts'
import type {
  ProviderAdapter,
  StatusQueryResult,
  ConnectOutcome,
  Connection,
  UnconfirmedMessage,
  Outcome,
  OutboundMessage,
  OnPartAccepted,
  Provider,
  DeliveryReceipt,
} from '../../src/providers/provider.ts'
import type { Clock } from '../../src/lib/clock.ts'

export type Answer = Outcome | Promise<Outcome> | 'hang'

export interface SendAttempt {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly took: OnPartAccepted | undefined
}

export interface ScriptedProvider {
  readonly provider: Provider
  readonly sent: OutboundMessage[]
  readonly statusQueries: UnconfirmedMessage[]
  connects: number
  answer: (message: OutboundMessage, connection: Connection) => Answer
  /** For attempts that take time or have several parts. */
  send?: (message: OutboundMessage, attempt: SendAttempt) => Promise<Outcome>
  queryStatus: (message: UnconfirmedMessage) => StatusQueryResult | Promise<StatusQueryResult>
  connect: (connection: Connection) => ConnectOutcome
}

export const providerIdOf = (message_id: string, attempt = 1): string => `scripted-${message_id}-${attempt}`

export const accepted = ({ id, attempt }: Pick<OutboundMessage, 'id' | 'attempt'>): Outcome => ({
  kind: 'accepted',
  provider_ids: [providerIdOf(id, attempt)],
})
export const taken = (id: string, attempt = 1): StatusQueryResult => ({
  kind: 'found',
  provider_ids: [providerIdOf(id, attempt)],
})
export const noAnswer: StatusQueryResult = { kind: 'no_answer', message: 'No answer came.' }
export const unavailable: Outcome = { kind: 'unavailable', provider_code: 'away', message: 'The provider is away.' }
export const unknown: Outcome = { kind: 'unknown', message: 'No answer came.' }

/** Its callbacks are `{"reports": […]}` without a signature. */
export function scriptedProvider(): ScriptedProvider {
  const scripted: ScriptedProvider = {
    provider: {
      name: 'scripted',
      title: 'Scripted',
      about: 'Answers as the test says.',
      types: ['sms'],
      offered: 'always',
      credentials: Type.Object({}, { additionalProperties: true }),
      identifier: 'required',
      capabilities: (type) => capabilitiesOf[type],
      adapter: ({ clock }) => adapterOf(scripted, clock),
    },
    sent: [],
    statusQueries: [],
    connects: 0,
    answer: accepted,
    queryStatus: () => ({ kind: 'no_information' }),
    connect: () => ({ kind: 'connected' }),
  }
  return scripted
}

const adapterOf = (scripted: ScriptedProvider, clock: Clock): ProviderAdapter => ({
  async send(message, connection, signal, took) {
    scripted.sent.push(message)
    if (scripted.send !== undefined) return await scripted.send(message, { clock, signal, took })
    const answer = scripted.answer(message, connection)
    if (answer !== 'hang') return await answer
    await clock.sleep(3600_000, signal)
    return unknown
  },
  async queryStatus(message) {
    scripted.statusQueries.push(message)
    return await scripted.queryStatus(message)
  },
  async connect(connection) {
    scripted.connects += 1
    return scripted.connect(connection)
  },
  receiveCallback: (callback) => ({
    items: (JSON.parse(Buffer.from(callback.body).toString()) as { reports: DeliveryReceipt[] }).reports,
  }),
})
