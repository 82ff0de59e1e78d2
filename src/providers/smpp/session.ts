/** A session with an SMSC: one connection bound for both ways, or one for each. */
import { randomBytes } from 'node:crypto'
import { withDeadline, type Clock, type SteadyClock } from '../../lib/clock.ts'
import type { Dial } from '../../lib/dial.ts'
import { postErrorOf } from '../../lib/post-error.ts'
import type { ConnectOutcome, Connection, SessionContext, Session, StoreItems } from '../provider.ts'
import { deliveries, type Deliveries } from './delivering.ts'
import { link, type Link } from './link.ts'
import { channelMemory, type ChannelMemory } from './memory.ts'
import { optionsOf, type Options } from './options.ts'
import type { Pdu } from './pdu.ts'
import { alreadyBound, answers, statusOf } from './statuses.ts'
import { submit, type SubmitDeps } from './submitting.ts'
import { window } from './window.ts'

export interface SessionTools {
  readonly clock: SteadyClock
  readonly dial: Dial
}

type Refusal = Exclude<ConnectOutcome, { kind: 'connected' }>
type Bound = { readonly kind: 'bound'; readonly link: Link } | Refusal
type OnRequest = (asked: Pdu, bytes: Buffer, on: Link) => void

const bindWithinMs = 10_000
const unbindWithinMs = 2_000
/** So many messages for each place in the window: enough to fill it again at once, few enough to have their turn in time. */
const windowsAtHand = 4

const binds = { both: ['bind_transceiver'], each: ['bind_transmitter', 'bind_receiver'] } as const

/** Binds and unbinds again. What the SMSC delivers meanwhile is to come again. */
export async function tryBind(
  tools: SessionTools,
  connection: Connection,
  signal: AbortSignal,
): Promise<ConnectOutcome> {
  const opened = await bindAll(
    tools,
    optionsOf(connection),
    (asked, _bytes, on) => void on.answer(asked, answers.later),
    signal,
  )
  if (opened.kind !== 'bound') return opened
  await Promise.all(opened.links.map((one) => unbind(tools.clock, one)))
  return { kind: 'connected' }
}

export interface SessionWanted {
  readonly tools: SessionTools
  readonly connection: Connection
  readonly memory: ChannelMemory
}

export async function openSession(
  { tools, connection, memory }: SessionWanted,
  { store: tell, signal, hasLease: isOwn }: SessionContext,
): Promise<{ kind: 'open'; session: Session } | Refusal> {
  const options = optionsOf(connection)
  const { clock } = tools
  const told = deliveries({ clock, options, memory, tell, nonce: randomBytes(8).toString('hex') })
  const opened = await bindAll(tools, options, told.take, signal)
  if (opened.kind === 'bound')
    return { kind: 'open', session: sessionOver({ clock, options, memory, tell, isOwn, told, links: opened.links }) }
  told.end()
  return opened
}

interface SessionParts {
  readonly clock: SteadyClock
  readonly options: Options
  readonly memory: ChannelMemory
  readonly tell: StoreItems
  readonly isOwn: () => boolean
  readonly told: Deliveries
  /** The first one sends. */
  readonly links: readonly Link[]
}

function sessionOver({ clock, options, memory, tell, isOwn, told, links }: SessionParts): Session {
  const sending = new Set<Promise<unknown>>()
  const closing = new AbortController()
  const ended = Promise.race(links.map((one) => one.ended)).then((message) => {
    told.end()
    for (const one of links) one.end(message)
    return { refused: false, message }
  })
  const deps: SubmitDeps = {
    clock,
    options,
    memory,
    window: window(clock, options.window_size),
    link: () => (closing.signal.aborted || !isOwn() || links[0]!.isEnded() ? null : links[0]!),
    tookLate: (message_id, provider_id) =>
      // should it not be stored, the repeated hand-over still finds that it was taken
      void tell([{ kind: 'delivery_receipt', provider_id, message_id, transition: 'accept' }], Buffer.alloc(0)).catch(
        () => undefined,
      ),
  }
  return {
    ended,
    max_concurrent_sends: options.window_size * windowsAtHand,
    send(message, signal, took) {
      const work = submit(deps, message, signal, took)
      sending.add(work)
      void work.finally(() => sending.delete(work))
      return work
    },
    async close(signal) {
      closing.abort()
      await Promise.race([Promise.allSettled(sending), gaveUp(signal)])
      await Promise.race([told.finish(), gaveUp(signal)])
      await Promise.all(links.map((one) => unbind(clock, one, signal)))
    },
  }
}

async function gaveUp(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Says goodbye, and ends the connection whether that was heard or not. */
async function unbind(clock: Clock, bound: Link, signal?: AbortSignal): Promise<void> {
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
): Promise<{ readonly kind: 'bound'; readonly links: readonly Link[] } | Refusal> {
  const links: Link[] = []
  for (const command of options.pair ? binds.each : binds.both) {
    const bound = await bind(tools, options, command, onRequest, signal)
    if (bound.kind !== 'bound') {
      for (const one of links) one.end('The other connection could not be bound.')
      return bound
    }
    links.push(bound.link)
  }
  return { kind: 'bound', links }
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
  const bound: Link = link({
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
    return { kind: 'bound', link: bound }
  bound.end('It could not be bound.')
  if (reply.kind !== 'answered') return { kind: 'unavailable', message: reply.message }
  if (reply.pdu.command_status === 0)
    return { kind: 'unavailable', message: 'The peer answered the bind with something else.' }
  const { name, verdict, message } = statusOf(reply.pdu.command_status)
  if (verdict === 'refused') return { kind: 'refused', message: `${name}: ${message}` }
  return {
    kind: 'unavailable',
    message: `${name}: ${message}`,
    ...(reply.pdu.command_status === alreadyBound ? { session_limit_reached: true } : {}),
  }
}

/** The memories of channels, each for as long as a process holds the channel's session: it opens all of them with one connection, and lets go of that with the channel. */
export function memories(): (connection: Connection) => ChannelMemory {
  const known = new WeakMap<Connection, ChannelMemory>()
  return (connection) => {
    const found = known.get(connection) ?? channelMemory()
    known.set(connection, found)
    return found
  }
}
