/** A session with an SMSC: one transceiver, or a transmitter and a receiver. */
import { randomBytes } from 'node:crypto'
import { aborted, withDeadline, type Clock, type SteadyClock } from '../../lib/clock.ts'
import type { Dial } from '../../lib/sockets.ts'
import { postErrorOf } from '../../lib/http-exchange.ts'
import type { ConnectOutcome, Connection, SessionContext, Session, StoreItems } from '../provider.ts'
import { deliveries, type Deliveries } from './deliveries.ts'
import { smscConnection, type SmscConnection } from './connection.ts'
import { channelMemory, sendWindow, type ChannelMemory } from './send-window.ts'
import { optionsOf, type Options } from './options.ts'
import type { Pdu } from './pdu.ts'
import { alreadyBound, answers, statusOf } from './codes.ts'
import { submit, type SubmitDeps } from './send.ts'

export interface SessionTools {
  readonly clock: SteadyClock
  readonly dial: Dial
}

type Refusal = Exclude<ConnectOutcome, { kind: 'connected' }>
type Bound = { readonly kind: 'bound'; readonly connection: SmscConnection } | Refusal
type OnRequest = (request: Pdu, bytes: Buffer, on: SmscConnection) => void

const bindWithinMs = 10_000
const unbindWithinMs = 2_000
/** Enough to refill the window at once, few enough to be sent in time. */
const attemptsPerPlace = 4

const binds = { both: ['bind_transceiver'], each: ['bind_transmitter', 'bind_receiver'] } as const

export async function tryBind(
  tools: SessionTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const opened = await bindAll(
    tools,
    optionsOf(connection),
    (request, _bytes, on) => void on.answer(request, answers.later),
    signal,
  )
  if (opened.kind !== 'bound') return opened
  await Promise.all(opened.connections.map((one) => unbind(tools.clock, one)))
  return { kind: 'connected' }
}

export interface SessionRequest {
  readonly tools: SessionTools
  readonly connection: Connection
  readonly memory: ChannelMemory
}

export async function openSession(
  { tools, connection, memory }: SessionRequest,
  { store, signal, hasLease }: SessionContext,
): Promise<{ kind: 'open'; session: Session } | Refusal> {
  const options = optionsOf(connection)
  const { clock } = tools
  const inbox = deliveries({ clock, options, memory, store, nonce: randomBytes(8).toString('hex') })
  const opened = await bindAll(tools, options, inbox.receive, signal)
  if (opened.kind === 'bound')
    return {
      kind: 'open',
      session: sessionOver({ clock, options, memory, store, hasLease, inbox, connections: opened.connections }),
    }
  inbox.end()
  return opened
}

interface SessionParts {
  readonly clock: SteadyClock
  readonly options: Options
  readonly memory: ChannelMemory
  readonly store: StoreItems
  readonly hasLease: () => boolean
  readonly inbox: Deliveries
  readonly connections: readonly SmscConnection[]
}

function sessionOver({ clock, options, memory, store, hasLease, inbox, connections }: SessionParts): Session {
  const sending = new Set<Promise<unknown>>()
  const closing = new AbortController()
  const ended = Promise.race(connections.map((one) => one.ended)).then((message) => {
    inbox.end()
    for (const one of connections) one.end(message)
    return { refused: false, message }
  })
  const deps: SubmitDeps = {
    clock,
    options,
    memory,
    window: sendWindow(clock, options.window_size),
    connection: () => (closing.signal.aborted || !hasLease() || connections[0]!.isEnded() ? null : connections[0]!),
    onLateAcceptance: (message_id, provider_id) =>
      // a failure is harmless: the next attempt finds it in memory
      void store([{ kind: 'delivery_receipt', provider_id, message_id, transition: 'accept' }], Buffer.alloc(0)).catch(
        () => undefined,
      ),
  }
  return {
    ended,
    max_concurrent_sends: options.window_size * attemptsPerPlace,
    send(message, signal, onPartAccepted) {
      const work = submit(deps, message, signal, onPartAccepted)
      sending.add(work)
      void work.finally(() => sending.delete(work))
      return work
    },
    async close(signal) {
      closing.abort()
      await Promise.race([Promise.allSettled(sending), aborted(signal)])
      await Promise.race([inbox.finish(), aborted(signal)])
      await Promise.all(connections.map((one) => unbind(clock, one, signal)))
    },
  }
}

async function unbind(clock: Clock, bound: SmscConnection, signal?: AbortSignal): Promise<void> {
  if (!bound.isEnded() && signal?.aborted !== true)
    await withDeadline(clock, unbindWithinMs, (deadline) =>
      bound.request({
        command: 'unbind',
        fields: {},
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      }),
    )
  bound.end('It was closed.')
}

async function bindAll(
  tools: SessionTools,
  options: Options,
  onRequest: OnRequest,
  signal: AbortSignal,
): Promise<{ readonly kind: 'bound'; readonly connections: readonly SmscConnection[] } | Refusal> {
  const connections: SmscConnection[] = []
  for (const command of options.pair ? binds.each : binds.both) {
    const bound = await bind(tools, options, command, onRequest, signal)
    if (bound.kind !== 'bound') {
      for (const one of connections) one.end('The other connection could not be bound.')
      return bound
    }
    connections.push(bound.connection)
  }
  return { kind: 'bound', connections }
}

async function bind(
  { clock, dial }: SessionTools,
  options: Options,
  command: string,
  onRequest: OnRequest,
  signal: AbortSignal,
): Promise<Bound> {
  const { host, port, tls, system_id, password, system_type } = options
  const dialled = await dial({ host, port, tls, signal }).catch((error: unknown) => postErrorOf(error))
  if ('code' in dialled) {
    const refused = dialled.code === 'address_not_public'
    return { kind: refused ? 'refused' : 'unavailable', message: dialled.message }
  }
  const bound: SmscConnection = smscConnection({
    clock,
    socket: dialled,
    enquire_every_ms: options.enquire_every_ms,
    onRequest: (pdu, bytes) => onRequest(pdu, bytes, bound),
  })
  const reply = await withDeadline(clock, bindWithinMs, (deadline) =>
    bound.request({
      command,
      fields: { system_id, password, system_type },
      signal: AbortSignal.any([deadline, signal]),
    }),
  )
  if (reply.kind === 'answered' && reply.pdu.command === `${command}_resp` && reply.pdu.command_status === 0)
    return { kind: 'bound', connection: bound }
  bound.end('It could not be bound.')
  if (reply.kind !== 'answered') return { kind: 'unavailable', message: reply.message }
  if (reply.pdu.command_status === 0)
    return { kind: 'unavailable', message: 'The peer answered the bind request with another command.' }
  const { name, verdict, message } = statusOf(reply.pdu.command_status)
  if (verdict === 'refused') return { kind: 'refused', message: `${name}: ${message}` }
  return {
    kind: 'unavailable',
    message: `${name}: ${message}`,
    ...(reply.pdu.command_status === alreadyBound ? { session_limit_reached: true } : {}),
  }
}

/** Per `Connection` object, which a process keeps while it holds the lease. */
export function channelMemories(): (connection: Connection) => ChannelMemory {
  const known = new WeakMap<Connection, ChannelMemory>()
  return (connection) => {
    const found = known.get(connection) ?? channelMemory()
    known.set(connection, found)
    return found
  }
}
