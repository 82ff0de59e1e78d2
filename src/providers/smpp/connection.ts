/** A TCP connection with an SMSC: requests, responses and `enquire_link`. */
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { responseTo, decode, encode, framing, numberOf, type Framing, type Pdu } from './pdu.ts'
import { answers } from './codes.ts'

/** `unwritten`: certainly not sent; `silent`: sent, but got no response. */
export type Reply =
  | { readonly kind: 'answered'; readonly pdu: Pdu }
  | { readonly kind: 'unwritten'; readonly message: string }
  | { readonly kind: 'silent'; readonly message: string }

export interface Request {
  readonly command: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
  /** The response arrived after the wait ended. */
  readonly onLateResponse?: (pdu: Pdu) => void
  /** Called before anything received after the response is processed, such as its receipt. */
  readonly onResponse?: (pdu: Pdu) => void
}

export interface SmscConnection {
  request(request: Request): Promise<Reply>
  answer(request: Pdu, command_status: number): boolean
  pause(): void
  resume(): void
  readonly ended: Promise<string>
  readonly isEnded: () => boolean
  end(reason: string): void
}

export interface ConnectionDeps {
  readonly clock: Clock
  readonly socket: Socket
  readonly enquire_every_ms: number
  onRequest(pdu: Pdu, bytes: Buffer): void
}

interface PendingRequest extends Pick<Request, 'onLateResponse' | 'onResponse'> {
  readonly done: (reply: Reply) => void
  timedOut: boolean
}

interface State extends ConnectionDeps {
  readonly framing: Framing
  readonly pending: Map<number, PendingRequest>
  sequence: number
  unbinding: boolean
  closed: boolean
  readonly closing: AbortController
  readonly ended: PromiseWithResolvers<string>
  readonly allAnswered: PromiseWithResolvers<void>
}

const answerWithinMs = 10_000
const timedOutMax = 10_000
const sequenceMax = 0x7fffffff
const lastAnswersWithinMs = 2_000
const unreadBytesMax = 4_000_000

export function smscConnection(deps: ConnectionDeps): SmscConnection {
  const state: State = {
    ...deps,
    framing: framing(),
    pending: new Map(),
    sequence: 0,
    unbinding: false,
    closed: false,
    closing: new AbortController(),
    ended: Promise.withResolvers<string>(),
    allAnswered: Promise.withResolvers<void>(),
  }
  const { socket } = state
  socket.setNoDelay(true)
  socket.on('data', (chunk: Buffer) => read(state, chunk))
  socket.on('error', (error) => end(state, `The connection broke off (${error.message}).`))
  socket.on('close', () => end(state, 'The SMSC closed the connection.'))
  void enquire(state)
  return {
    request: (request) => sendRequest(state, request),
    answer(request, command_status) {
      const command = responseTo(request.command)
      return (
        command !== null && write(state, encode(command, { command_status, sequence_number: request.sequence_number }))
      )
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    ended: state.ended.promise,
    isEnded: () => state.closed || state.unbinding,
    end: (reason) => end(state, reason),
  }
}

function end(state: State, reason: string): void {
  if (state.closed) return
  state.closed = true
  state.closing.abort()
  state.socket.destroy()
  for (const { done } of state.pending.values())
    done({ kind: 'silent', message: `${reason} The request got no response.` })
  state.pending.clear()
  state.ended.resolve(reason)
}

function write(state: State, bytes: Buffer): boolean {
  const { closed, socket } = state
  if (closed || !socket.writable) return false
  socket.write(bytes)
  if (socket.writableLength > unreadBytesMax) end(state, 'The SMSC does not read its input.')
  return true
}

async function sendRequest(
  state: State,
  { command, fields, signal, onLateResponse, onResponse }: Request,
): Promise<Reply> {
  if (signal?.aborted === true) return { kind: 'unwritten', message: 'The time was over before it was sent.' }
  if (state.unbinding) return { kind: 'unwritten', message: 'The SMSC ends the session.' }
  state.sequence = state.sequence === sequenceMax ? 1 : state.sequence + 1
  const sequence_number = state.sequence
  const { promise, resolve } = Promise.withResolvers<Reply>()
  const pending: PendingRequest = {
    done: resolve,
    timedOut: false,
    ...(onLateResponse && { onLateResponse }),
    ...(onResponse && { onResponse }),
  }
  state.pending.set(sequence_number, pending)
  if (!write(state, encode(command, { ...fields, sequence_number }))) {
    state.pending.delete(sequence_number)
    return { kind: 'unwritten', message: 'The connection with the SMSC has ended.' }
  }
  const timeOut = () => {
    pending.timedOut = true
    resolve({ kind: 'silent', message: 'The SMSC did not answer in time.' })
    if (state.pending.size > timedOutMax) state.pending.delete(state.pending.keys().next().value!)
  }
  signal?.addEventListener('abort', timeOut, { once: true })
  const reply = await promise
  signal?.removeEventListener('abort', timeOut)
  return reply
}

function read(state: State, chunk: Buffer): void {
  if (state.closed) return
  const packets = state.framing.push(chunk)
  if (packets === null) {
    end(state, 'The peer does not speak SMPP: it sent a PDU with an impossible length.')
    return
  }
  for (const bytes of packets) {
    if (state.closed) return
    try {
      handle(state, bytes)
    } catch (error) {
      end(
        state,
        `The SMSC sent a PDU that could not be read (${error instanceof Error ? error.message : String(error)}).`,
      )
    }
  }
}

function handle(state: State, bytes: Buffer): void {
  const pdu = decode(bytes)
  if (numberOf(pdu, 'command_id') >= 0x80000000) {
    const pending = state.pending.get(pdu.sequence_number)
    if (pending === undefined) return
    state.pending.delete(pdu.sequence_number)
    pending.onResponse?.(pdu)
    if (pending.timedOut) pending.onLateResponse?.(pdu)
    else pending.done({ kind: 'answered', pdu })
    if (state.unbinding && !hasOpenRequests(state)) state.allAnswered.resolve()
    return
  }
  if (pdu.command === 'enquire_link')
    write(state, encode('enquire_link_resp', { sequence_number: pdu.sequence_number }))
  else if (pdu.command === 'unbind') void unbind(state, pdu)
  else if (pdu.command === 'unknown')
    write(
      state,
      encode('generic_nack', { command_status: answers.unknownCommand, sequence_number: pdu.sequence_number }),
    )
  else state.onRequest(pdu, bytes)
}

const hasOpenRequests = ({ pending }: State): boolean => [...pending.values()].some(({ timedOut }) => !timedOut)

async function unbind(state: State, { sequence_number }: Pdu): Promise<void> {
  if (state.unbinding) return
  state.unbinding = true
  const { clock, closing } = state
  if (hasOpenRequests(state))
    await Promise.race([state.allAnswered.promise, clock.sleep(lastAnswersWithinMs, closing.signal)])
  const ended = () => end(state, 'The SMSC ended the session.')
  if (state.closed) return
  state.socket.write(encode('unbind_resp', { sequence_number }), ended)
  await clock.sleep(lastAnswersWithinMs, closing.signal)
  ended()
}

async function enquire(state: State): Promise<void> {
  const { clock, closing } = state
  for (;;) {
    await clock.sleep(state.enquire_every_ms, closing.signal)
    if (state.closed) return
    const over = new AbortController()
    void clock.sleep(answerWithinMs, AbortSignal.any([closing.signal, over.signal])).then(() => {
      if (!over.signal.aborted) end(state, 'The SMSC did not answer enquire_link.')
    })
    await sendRequest(state, { command: 'enquire_link', fields: {} })
    over.abort()
  }
}
