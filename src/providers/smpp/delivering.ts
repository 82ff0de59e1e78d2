/** What an SMSC delivers: receipts and messages from recipients, answered once they are stored. */
import type { SteadyClock } from '../../lib/clock.ts'
import { areOfAnother } from '../../lib/same-number.ts'
import type { CallbackItem, StoreItems } from '../provider.ts'
import { contentOf, idOf, readInbound } from './inbound.ts'
import type { Link } from './link.ts'
import { bound, type ChannelMemory } from './memory.ts'
import type { Options } from './options.ts'
import { misfitOf, numberOf, textOf, type Misfit, type Pdu } from './pdu.ts'
import { answeredIds, readReceipt, receiptOf } from './receipts.ts'
import { answers } from './statuses.ts'
import { decodeText, ucs2Coding } from './texts.ts'

export interface DeliveryDeps {
  readonly clock: SteadyClock
  readonly options: Options
  readonly memory: ChannelMemory
  readonly tell: StoreItems
  /** Makes ids of this session differ from those of others. */
  readonly nonce: string
}

export interface Deliveries {
  take(pdu: Pdu, bytes: Buffer, on: Link): void
  /** The connection is gone: what was answered last may not have been heard. */
  end(): void
  /** Resolves when all is stored and answered. */
  finish(): Promise<void>
}

/** What a packet tells, or why that is nothing. */
interface Read {
  readonly reports: readonly CallbackItem[]
  readonly ignored?: string
}

interface Delivery extends Read {
  readonly bytes: Buffer
  readonly done: (stored: boolean) => void
}

interface State extends DeliveryDeps {
  readonly waiting: Delivery[]
  storing: Promise<void> | undefined
  /** The last ones that were answered. */
  readonly answered: Map<string, number>
  readonly paused: Set<Link>
}

const storedAtOnce = 200
/** More than that many are not read before some are stored. */
const waitingMax = 500
const answeredMax = 1000
/** What was answered so shortly before the connection went may not have been heard, and comes again within so long. */
const doubtForMs = 5_000
const comesAgainWithinMs = 10 * 60_000

export function deliveries(deps: DeliveryDeps): Deliveries {
  const state: State = { ...deps, waiting: [], storing: undefined, answered: new Map(), paused: new Set() }
  return {
    take: (pdu, bytes, on) => take(state, pdu, bytes, on),
    end() {
      const now = state.clock.elapsed()
      for (const [packet, at_ms] of state.answered)
        if (now - at_ms <= doubtForMs) state.memory.outcome_unknown.set(packet, now)
      bound(state.memory.outcome_unknown, answeredMax)
    },
    async finish() {
      while (state.storing !== undefined) await state.storing
    },
  }
}

const headerBytes = 16

function take(state: State, pdu: Pdu, bytes: Buffer, on: Link): void {
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') {
    // nothing else is an SMSC's to ask
    on.answer(pdu, answers.unknownCommand)
    return
  }
  const misfit = misfitOf(bytes, pdu.command)
  if (misfit !== null) return refuse(state, pdu, bytes, on, misfit)
  const packet = idOf(bytes.subarray(headerBytes), '')
  const answer = () => {
    if (on.answer(pdu, answers.ok)) {
      state.answered.delete(packet)
      state.answered.set(packet, state.clock.elapsed())
      bound(state.answered, answeredMax)
    } else state.memory.outcome_unknown.set(packet, state.clock.elapsed())
  }
  const doubted_ms = state.memory.outcome_unknown.get(packet)
  state.memory.outcome_unknown.delete(packet)
  if (doubted_ms !== undefined && state.clock.elapsed() - doubted_ms <= comesAgainWithinMs) return answer()
  const done = (stored: boolean) => {
    if (stored) answer()
    else on.answer(pdu, answers.later)
  }
  keep(state, { ...read(state, pdu, bytes), bytes, done }, on)
}

const misfits: Readonly<Record<Misfit, { readonly status: number; readonly message: string }>> = {
  fields: { status: answers.wrongLength, message: 'a packet that is shorter than its fields' },
  text: { status: answers.wrongTextLength, message: 'a packet that is shorter than its text' },
  parameters: {
    status: answers.wrongParameters,
    message: 'a packet that is longer than its text, or shorter than its optional parameters',
  },
}

/** Of a packet that was cut off, or of which a length is wrong, no part is taken for the message. */
function refuse(state: State, pdu: Pdu, bytes: Buffer, on: Link, misfit: Misfit): void {
  const { status, message } = misfits[misfit]
  keep(state, { reports: [], ignored: message, bytes, done: () => void on.answer(pdu, status) }, on)
}

/** Stores it, and reads nothing more while too much waits for that. */
function keep(state: State, delivery: Delivery, on: Link): void {
  const done = (stored: boolean) => {
    delivery.done(stored)
    if (state.waiting.length >= waitingMax / 2) return
    for (const one of state.paused) one.resume()
    state.paused.clear()
  }
  state.waiting.push({ ...delivery, done })
  state.storing ??= storeAll(state)
  if (state.waiting.length < waitingMax) return
  on.pause()
  state.paused.add(on)
}

const receiptTypes = 0x3c

function read(state: State, pdu: Pdu, bytes: Buffer): Read {
  const isReceipt = (numberOf(pdu, 'esm_class') & receiptTypes) !== 0 || pdu['receipted_message_id'] !== undefined
  return isReceipt ? readReceiptOf(state, pdu) : readInbound(pdu, state.options, idOf(bytes, state.nonce))
}

/**
 * Alone by the likeliest id where a hand-over to this recipient is remembered that was answered with it; else with the others, and with the addresses, since it may be of another channel of the account. That one of those is remembered says nothing: another
 * process may have sent the message of the likeliest, and ids that are counted up are each other's in hex and decimal.
 */
function readReceiptOf({ options, memory }: State, pdu: Pdu): Read {
  const told = readReceipt(pdu, receiptText(pdu))
  if (told === null) return { reports: [], ignored: 'a receipt without the id of a message' }
  const [likeliest, ...others] = answeredIds(told.id, options.receipt_ids)
  const addresses = { from: textOf(pdu, 'source_addr'), to: textOf(pdu, 'destination_addr') }
  const recipient = memory.ids.get(likeliest)
  const isOurs = recipient !== undefined && !areOfAnother(addresses, recipient)
  const receipt = receiptOf(told, { provider_id: likeliest, ...(isOurs ? {} : { also_known_as: others, addresses }) })
  return receipt === null
    ? { reports: [], ignored: 'a receipt with a state that changes nothing' }
    : { reports: [receipt] }
}

/** Appendix B's text is of ASCII, in which an id may have what the GSM alphabet has elsewhere; some SMSCs write it as UCS-2. */
function receiptText(pdu: Pdu): string {
  const bytes = contentOf(pdu).rest
  return numberOf(pdu, 'data_coding') === ucs2Coding
    ? (decodeText(bytes, ucs2Coding, 'ascii') ?? '')
    : bytes.toString('latin1')
}

/** What comes while some is being stored is stored together next. */
async function storeAll(state: State): Promise<void> {
  try {
    while (state.waiting.length > 0) {
      const batch = state.waiting.splice(0, storedAtOnce)
      if (await stored(state, batch)) for (const { done } of batch) done(true)
      // one that spoils the others is told to come again by itself
      else for (const one of batch) one.done(batch.length > 1 && (await stored(state, [one])))
    }
  } finally {
    // with nothing awaited since the last look, so that what comes from here on is stored next
    state.storing = undefined
  }
}

async function stored({ tell }: State, batch: readonly Delivery[]): Promise<boolean> {
  try {
    const ignored = [...new Set(batch.flatMap((one) => one.ignored ?? []))].join(', ')
    await tell(
      batch.flatMap(({ reports }) => reports),
      Buffer.concat(batch.map(({ bytes }) => bytes)),
      ignored === '' ? undefined : ignored,
    )
    return true
  } catch {
    return false
  }
}
