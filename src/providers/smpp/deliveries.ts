/** `deliver_sm` and `data_sm` of the SMSC, acknowledged once they are stored. */
import type { SteadyClock } from '../../lib/clock.ts'
import { isOtherRecipient } from '../../lib/phone.ts'
import type { CallbackItem, StoreItems } from '../provider.ts'
import { contentOf, idOf, readInbound } from './inbound.ts'
import type { SmscConnection } from './connection.ts'
import { bound, type ChannelMemory } from './send-window.ts'
import type { Options } from './options.ts'
import { malformedPart, numberOf, textOf, type Malformed, type Pdu } from './pdu.ts'
import { submittedIds, readReceipt, receiptOf } from './delivery-receipts.ts'
import { answers } from './codes.ts'
import { decodeText, ucs2Coding } from './text-encoding.ts'

export interface DeliveryDeps {
  readonly clock: SteadyClock
  readonly options: Options
  readonly memory: ChannelMemory
  readonly store: StoreItems
  readonly nonce: string
}

export interface Deliveries {
  receive(pdu: Pdu, bytes: Buffer, on: SmscConnection): void
  end(): void
  finish(): Promise<void>
}

interface Read {
  readonly items: readonly CallbackItem[]
  readonly ignored?: string
}

interface Delivery extends Read {
  readonly bytes: Buffer
  readonly done: (stored: boolean) => void
}

interface State extends DeliveryDeps {
  readonly waiting: Delivery[]
  storing: Promise<void> | undefined
  readonly acknowledged: Map<string, number>
  readonly paused: Set<SmscConnection>
}

const batchMax = 200
const waitingMax = 500
const acknowledgedMax = 1000
/** An acknowledgement so shortly before the end may be lost; the SMSC repeats the PDU within `repeatedWithinMs`. */
const unconfirmedForMs = 5_000
const repeatedWithinMs = 10 * 60_000

export function deliveries(deps: DeliveryDeps): Deliveries {
  const state: State = { ...deps, waiting: [], storing: undefined, acknowledged: new Map(), paused: new Set() }
  return {
    receive: (pdu, bytes, on) => receive(state, pdu, bytes, on),
    end() {
      const now = state.clock.elapsed()
      for (const [packet, at_ms] of state.acknowledged)
        if (now - at_ms <= unconfirmedForMs) state.memory.unconfirmed.set(packet, now)
      bound(state.memory.unconfirmed, acknowledgedMax)
    },
    async finish() {
      while (state.storing !== undefined) await state.storing
    },
  }
}

const headerBytes = 16

function receive(state: State, pdu: Pdu, bytes: Buffer, on: SmscConnection): void {
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') {
    on.answer(pdu, answers.unknownCommand)
    return
  }
  const malformed = malformedPart(bytes, pdu.command)
  if (malformed !== null) return refuse(state, pdu, bytes, on, malformed)
  const packet = idOf(bytes.subarray(headerBytes), '')
  const acknowledge = () => {
    if (on.answer(pdu, answers.ok)) {
      state.acknowledged.delete(packet)
      state.acknowledged.set(packet, state.clock.elapsed())
      bound(state.acknowledged, acknowledgedMax)
    } else state.memory.unconfirmed.set(packet, state.clock.elapsed())
  }
  const unconfirmed_ms = state.memory.unconfirmed.get(packet)
  state.memory.unconfirmed.delete(packet)
  if (unconfirmed_ms !== undefined && state.clock.elapsed() - unconfirmed_ms <= repeatedWithinMs) return acknowledge()
  const done = (stored: boolean) => {
    if (stored) acknowledge()
    else on.answer(pdu, answers.later)
  }
  enqueue(state, { ...read(state, pdu, bytes), bytes, done }, on)
}

const malformedAnswers: Readonly<Record<Malformed, { readonly status: number; readonly message: string }>> = {
  fields: { status: answers.wrongLength, message: 'a PDU that is shorter than its fields' },
  text: { status: answers.wrongTextLength, message: 'a PDU that is shorter than its text' },
  parameters: {
    status: answers.wrongParameters,
    message: 'a PDU that is longer than its text, or shorter than its optional parameters',
  },
}

function refuse(state: State, pdu: Pdu, bytes: Buffer, on: SmscConnection, malformed: Malformed): void {
  const { status, message } = malformedAnswers[malformed]
  enqueue(state, { items: [], ignored: message, bytes, done: () => void on.answer(pdu, status) }, on)
}

function enqueue(state: State, delivery: Delivery, on: SmscConnection): void {
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

/** Ids in hex and decimal overlap: only an id sent to this recipient by this process is certain. */
function readReceiptOf({ options, memory }: State, pdu: Pdu): Read {
  const read = readReceipt(pdu, receiptText(pdu))
  if (read === null) return { items: [], ignored: 'a delivery receipt without a message id' }
  const [likeliest, ...others] = submittedIds(read.id, options.receipt_ids)
  const addresses = { from: textOf(pdu, 'source_addr'), to: textOf(pdu, 'destination_addr') }
  const recipient = memory.ids.get(likeliest)
  const isOurs = recipient !== undefined && !isOtherRecipient(addresses, recipient)
  const receipt = receiptOf(read, { provider_id: likeliest, ...(isOurs ? {} : { also_known_as: others, addresses }) })
  return receipt === null
    ? { items: [], ignored: 'a delivery receipt with a state that changes nothing' }
    : { items: [receipt] }
}

/** The text of appendix B is ASCII; some SMSCs write it as UCS-2. */
function receiptText(pdu: Pdu): string {
  const bytes = contentOf(pdu).rest
  return numberOf(pdu, 'data_coding') === ucs2Coding
    ? (decodeText(bytes, ucs2Coding, 'ascii') ?? '')
    : bytes.toString('latin1')
}

async function storeAll(state: State): Promise<void> {
  try {
    while (state.waiting.length > 0) {
      const batch = state.waiting.splice(0, batchMax)
      if (await stored(state, batch)) for (const { done } of batch) done(true)
      // one that cannot be stored fails the batch, so each is tried alone
      else for (const one of batch) one.done(batch.length > 1 && (await stored(state, [one])))
    }
  } finally {
    // nothing is awaited since the last check of the queue, so nothing is missed
    state.storing = undefined
  }
}

async function stored({ store }: State, batch: readonly Delivery[]): Promise<boolean> {
  try {
    const ignored = [...new Set(batch.flatMap((one) => one.ignored ?? []))].join(', ')
    await store(
      batch.flatMap(({ items }) => items),
      Buffer.concat(batch.map(({ bytes }) => bytes)),
      ignored === '' ? undefined : ignored,
    )
    return true
  } catch {
    return false
  }
}
