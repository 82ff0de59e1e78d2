/** One connection with an SMSC, bound: requests with their answers, what the SMSC asks, and the question whether it still listens. */
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { answerTo, decode, encode, framing, numberOf, type Framing, type Pdu } from './pdu.ts'
import { answers } from './statuses.ts'

/** What came of a request. `unwritten`: it certainly did not leave; `silent`: it may have arrived, and had no answer. */
export type Reply =
  | { readonly kind: 'answered'; readonly pdu: Pdu }
  | { readonly kind: 'unwritten'; readonly message: string }
  | { readonly kind: 'silent'; readonly message: string }

export interface Request {
  readonly command: string
  readonly fields: Readonly<Record<string, unknown>>
  /** When it is not waited for any longer. */
  readonly signal?: AbortSignal
  /** Told of an answer that came after that. */
  readonly late?: (pdu: Pdu) => void
  /** Told of the answer before what came with it is read. */
  readonly heard?: (pdu: Pdu) => void
}

export interface Link {
  request(request: Request): Promise<Reply>
  /** Answers what the SMSC asked; false where it has no answer, or none can be written any more. */
  answer(asked: Pdu, command_status: number): boolean
  /** Reads nothing more until `resume`: what cannot be taken in waits with the SMSC. */
  pause(): void
  resume(): void
  readonly ended: Promise<string>
  /** Whether nothing can go out on it any more. */
  readonly isEnded: () => boolean
  /** Ends it at once; what waits for an answer has none. */
  end(why: string): void
}

export interface LinkDeps {
  readonly clock: Clock
  readonly socket: Socket
  /** Whether it still listens is asked so often. */
  readonly enquire_every_ms: number
  /** What the SMSC asks, beside what the link answers by itself. */
  onRequest(pdu: Pdu, bytes: Buffer): void
}

interface Waiting {
  readonly done: (reply: Reply) => void
  readonly late: ((pdu: Pdu) => void) | undefined
  readonly heard: ((pdu: Pdu) => void) | undefined
  givenUp: boolean
}

interface State extends LinkDeps {
  readonly framing: Framing
  readonly waiting: Map<number, Waiting>
  sequence: number
  /** The SMSC said goodbye: nothing more goes out, and what is under way may still be answered. */
  leaving: boolean
  over: boolean
  readonly closing: AbortController
  readonly ended: PromiseWithResolvers<string>
  /** Resolved, while it is leaving, when nothing waits for an answer any more. */
  readonly answered: PromiseWithResolvers<void>
}

const answerWithinMs = 10_000
/** Requests that are not waited for any longer, and whose answers would still be heard. */
const givenUpMax = 10_000
const sequenceMax = 0x7fffffff
/** An SMSC that says goodbye may answer what is under way for so long. */
const lastAnswersWithinMs = 2_000
/** A peer that reads nothing has so many bytes kept for it. */
const unreadBytesMax = 4_000_000

export function link(deps: LinkDeps): Link {
  const state: State = {
    ...deps,
    framing: framing(),
    waiting: new Map(),
    sequence: 0,
    leaving: false,
    over: false,
    closing: new AbortController(),
    ended: Promise.withResolvers<string>(),
    answered: Promise.withResolvers<void>(),
  }
  const { socket } = state
  socket.setNoDelay(true)
  socket.on('data', (chunk: Buffer) => read(state, chunk))
  socket.on('error', (error) => end(state, `The connection broke off (${error.message}).`))
  socket.on('close', () => end(state, 'The SMSC closed the connection.'))
  void enquire(state)
  return {
    request: (request) => ask(state, request),
    answer(asked, command_status) {
      const command = answerTo(asked.command)
      return (
        command !== null && write(state, encode(command, { command_status, sequence_number: asked.sequence_number }))
      )
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    ended: state.ended.promise,
    isEnded: () => state.over || state.leaving,
    end: (why) => end(state, why),
  }
}

function end(state: State, why: string): void {
  if (state.over) return
  state.over = true
  state.closing.abort()
  state.socket.destroy()
  for (const { done } of state.waiting.values())
    done({ kind: 'silent', message: `${why} What was sent had no answer.` })
  state.waiting.clear()
  state.ended.resolve(why)
}

function write(state: State, bytes: Buffer): boolean {
  const { over, socket } = state
  if (over || !socket.writable) return false
  socket.write(bytes)
  if (socket.writableLength > unreadBytesMax) end(state, 'The SMSC does not read what it is sent.')
  return true
}

async function ask(state: State, { command, fields, signal, late, heard }: Request): Promise<Reply> {
  if (signal?.aborted === true) return { kind: 'unwritten', message: 'It was given up before it was sent.' }
  if (state.leaving) return { kind: 'unwritten', message: 'The SMSC ends the session.' }
  state.sequence = state.sequence === sequenceMax ? 1 : state.sequence + 1
  const sequence_number = state.sequence
  const { promise, resolve } = Promise.withResolvers<Reply>()
  const waiting: Waiting = { done: resolve, late, heard, givenUp: false }
  state.waiting.set(sequence_number, waiting)
  if (!write(state, encode(command, { ...fields, sequence_number }))) {
    state.waiting.delete(sequence_number)
    return { kind: 'unwritten', message: 'The connection with the SMSC is gone.' }
  }
  const giveUp = () => {
    waiting.givenUp = true
    resolve({ kind: 'silent', message: 'The SMSC did not answer in time.' })
    if (state.waiting.size > givenUpMax) state.waiting.delete(state.waiting.keys().next().value!)
  }
  signal?.addEventListener('abort', giveUp, { once: true })
  const reply = await promise
  signal?.removeEventListener('abort', giveUp)
  return reply
}

function read(state: State, chunk: Buffer): void {
  if (state.over) return
  const packets = state.framing.push(chunk)
  if (packets === null) {
    end(state, 'The peer does not speak SMPP: it sent a packet of an impossible length.')
    return
  }
  for (const bytes of packets) {
    if (state.over) return
    try {
      take(state, bytes)
    } catch (error) {
      // whatever a peer sends ends its own session at most
      end(
        state,
        `The SMSC sent what could not be understood (${error instanceof Error ? error.message : String(error)}).`,
      )
    }
  }
}

function take(state: State, bytes: Buffer): void {
  const pdu = decode(bytes)
  if (numberOf(pdu, 'command_id') >= 0x80000000) {
    const waiting = state.waiting.get(pdu.sequence_number)
    if (waiting === undefined) return
    state.waiting.delete(pdu.sequence_number)
    waiting.heard?.(pdu)
    if (waiting.givenUp) waiting.late?.(pdu)
    else waiting.done({ kind: 'answered', pdu })
    if (state.leaving && !hasWaiting(state)) state.answered.resolve()
    return
  }
  if (pdu.command === 'enquire_link')
    write(state, encode('enquire_link_resp', { sequence_number: pdu.sequence_number }))
  else if (pdu.command === 'unbind') void leave(state, pdu)
  else if (pdu.command === 'unknown')
    write(
      state,
      encode('generic_nack', { command_status: answers.unknownCommand, sequence_number: pdu.sequence_number }),
    )
  else state.onRequest(pdu, bytes)
}

const hasWaiting = ({ waiting }: State): boolean => [...waiting.values()].some(({ givenUp }) => !givenUp)

/** The SMSC says goodbye, perhaps in the middle of the work: what it took is worth waiting for. */
async function leave(state: State, { sequence_number }: Pdu): Promise<void> {
  if (state.leaving) return
  state.leaving = true
  const { clock, closing } = state
  if (hasWaiting(state)) await Promise.race([state.answered.promise, clock.sleep(lastAnswersWithinMs, closing.signal)])
  const ended = () => end(state, 'The SMSC ended the session.')
  if (state.over) return
  state.socket.write(encode('unbind_resp', { sequence_number }), ended)
  await clock.sleep(lastAnswersWithinMs, closing.signal)
  ended()
}

/** A connection that died without a word is found by a question that has no answer. */
async function enquire(state: State): Promise<void> {
  const { clock, closing } = state
  for (;;) {
    await clock.sleep(state.enquire_every_ms, closing.signal)
    if (state.over) return
    const over = new AbortController()
    void clock.sleep(answerWithinMs, AbortSignal.any([closing.signal, over.signal])).then(() => {
      if (!over.signal.aborted) end(state, 'The SMSC did not answer enquire_link.')
    })
    await ask(state, { command: 'enquire_link', fields: {} })
    over.abort()
  }
}
