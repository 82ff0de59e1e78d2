/** What an SMSC delivers: receipts and messages from recipients, answered once they are stored. */
import type { Clock } from '../../../../lib/clock.ts'
import type { Report, Tell } from '../../adapter.ts'
import { idOf, readInbound } from './inbound.ts'
import type { Link } from './link.ts'
import { bound, type ChannelMemory } from './memory.ts'
import type { Options } from './options.ts'
import { bytesOf, numberOf, type Pdu } from './pdu.ts'
import { answeredIds, readReceipt, receiptOf } from './receipts.ts'
import { answers } from './statuses.ts'
import { decodeText } from './texts.ts'

export interface DeliveryDeps {
  readonly clock: Clock
  readonly options: Options
  readonly memory: ChannelMemory
  readonly tell: Tell
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

interface Delivery {
  readonly reports: readonly Report[]
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
      const now = state.clock.now()
      for (const [packet, at_ms] of state.answered) if (now - at_ms <= doubtForMs) state.memory.doubtful.set(packet, now)
      bound(state.memory.doubtful, answeredMax)
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
  const packet = idOf(bytes.subarray(headerBytes), '')
  const answer = () => {
    if (on.answer(pdu, answers.ok)) {
      state.answered.delete(packet)
      state.answered.set(packet, state.clock.now())
      bound(state.answered, answeredMax)
    } else state.memory.doubtful.set(packet, state.clock.now())
  }
  const doubted_ms = state.memory.doubtful.get(packet)
  state.memory.doubtful.delete(packet)
  if (doubted_ms !== undefined && state.clock.now() - doubted_ms <= comesAgainWithinMs) return answer()
  const done = (stored: boolean) => {
    if (stored) answer()
    else on.answer(pdu, answers.later)
    if (state.waiting.length < waitingMax / 2) for (const one of state.paused) one.resume()
    if (state.waiting.length < waitingMax / 2) state.paused.clear()
  }
  store(state, { reports: reportsOf(state, pdu, bytes), bytes, done })
  if (state.waiting.length < waitingMax) return
  on.pause()
  state.paused.add(on)
}

const receiptTypes = 0x3c

function reportsOf(state: State, pdu: Pdu, bytes: Buffer): readonly Report[] {
  const isReceipt = (numberOf(pdu, 'esm_class') & receiptTypes) !== 0 || pdu['receipted_message_id'] !== undefined
  if (isReceipt) return receiptsOf(state, pdu)
  const message = readInbound(pdu, state.options, idOf(bytes, state.nonce))
  // nobody's message is nothing to tell
  return message === null ? [] : [message]
}

/** The id is the one that the hand-over was answered with, where that is remembered; else the likeliest, with the others. */
function receiptsOf({ options, memory }: State, pdu: Pdu): readonly Report[] {
  const payload = bytesOf(pdu, 'message_payload')
  const bytes = payload.length > 0 ? payload : bytesOf(pdu, 'short_message')
  const told = readReceipt(pdu, decodeText(bytes, numberOf(pdu, 'data_coding'), options.alphabet) ?? bytes.toString('latin1'))
  if (told === null) return []
  const [likeliest, ...others] = answeredIds(told.id, options.receipt_ids)
  const known = [likeliest, ...others].find((id) => memory.ids.has(id))
  const receipt = receiptOf(told, known === undefined ? { provider_id: likeliest, also_known_as: others } : { provider_id: known })
  return receipt === null ? [] : [receipt]
}

function store(state: State, delivery: Delivery): void {
  state.waiting.push(delivery)
  state.storing ??= storeAll(state)
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
    await tell(
      batch.flatMap(({ reports }) => reports),
      Buffer.concat(batch.map(({ bytes }) => bytes)),
    )
    return true
  } catch {
    return false
  }
}
