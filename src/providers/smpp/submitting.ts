/** Hand-overs: a message as the packets of its parts, and what the answers to them make of it. */
import { createHash } from 'node:crypto'
import type { SteadyClock } from '../../lib/clock.ts'
import { fencedOff, fenceNow } from '../../lib/fence.ts'
import type { Outcome, OutboundMessage, OnPartAccepted } from '../provider.ts'
import { nextPart, restLater } from '../rest-later.ts'
import type { Link, Reply } from './link.ts'
import { bound, type ChannelMemory } from './memory.ts'
import type { Options } from './options.ts'
import { textOf, type Pdu } from './pdu.ts'
import { idLengthMax, plainId } from './receipts.ts'
import { submitStatusOf } from './statuses.ts'
import { encodeText, joiningHeader, type PartPlace } from './texts.ts'
import type { Window } from './window.ts'

export interface SubmitDeps {
  readonly clock: SteadyClock
  readonly options: Options
  readonly memory: ChannelMemory
  readonly window: Window
  /** The connection that messages go out on; null when there is none any more. */
  link(): Link | null
  /** Told of an answer to a message of one part that nobody waited for any longer. */
  tookLate(message_id: string, provider_id: string): void
}

type Fields = Readonly<Record<string, unknown>>

const takenMax = 10_000
const idsMax = 20_000
const udhIndicator = 0x40
const wantsReceipt = 1

/**
 * Sends the parts of a message that the SMSC has not taken yet, one after the other: when the hand-over is repeated, taken parts do not go again. What it says
 * that it took when nobody waits for it any longer is remembered until then. The reference that joins the parts comes from the message's id, so that parts which another process repeats are
 * the same to the phone.
 */
export async function submit(
  deps: SubmitDeps,
  message: OutboundMessage,
  signal: AbortSignal,
  took?: OnPartAccepted,
): Promise<Outcome> {
  const packets = packetsOf(deps.options, message)
  const { taken } = deps.memory
  const ids = new Map([...message.already_accepted.entries(), ...(taken.get(message.id) ?? [])])
  let time: AbortSignal | null = signal
  for (const [index, fields] of packets.entries()) {
    if (ids.has(index)) continue
    const unnamed = `unnamed:${message.id}:${index}`
    const outcome = await submitPart(
      deps,
      { fields, unnamed, to: message.to, tookLate: () => taken.get(message.id)?.get(index) },
      time,
      (provider_id) => {
        ids.set(index, provider_id)
        taken.set(message.id, ids)
        bound(taken, takenMax)
        if (packets.length === 1) deps.tookLate(message.id, provider_id)
      },
    )
    if (typeof outcome === 'string') {
      ids.set(index, outcome)
      if (index === packets.length - 1) break
      time = await nextPart(took, [...ids.values()], time)
      if (time === null) return restLater([...ids.values()])
    } else {
      if (outcome.kind === 'refused') taken.delete(message.id)
      return ids.size === 0 || outcome.kind === 'accepted' ? outcome : { ...outcome, provider_ids: [...ids.values()] }
    }
  }
  taken.delete(message.id)
  const provider_ids = packets.map((_, index) => ids.get(index)!) as [string, ...string[]]
  return { kind: 'accepted', provider_ids }
}

interface Packet {
  readonly fields: Fields
  /** The id of a part that the SMSC took without giving it one. */
  readonly unnamed: string
  readonly to: string
  /** The id that an earlier hand-over of the part was answered with by now; undefined where it was not. */
  tookLate(): string | undefined
}

/** Resolves to the id that the SMSC gave the part, or to what came of it instead. */
async function submitPart(
  deps: SubmitDeps,
  packet: Packet,
  signal: AbortSignal,
  late: (provider_id: string) => void,
): Promise<string | Outcome> {
  const { window, memory } = deps
  const leave = await window.enter(signal)
  if (leave === null) return unavailable('The messages before it were not answered in time.')
  try {
    // while this one waited, the answer to the hand-over before it may have come
    const provider_id = packet.tookLate()
    if (provider_id !== undefined) return provider_id
    const paused_ms = window.pausedFor()
    if (paused_ms > 0)
      return {
        kind: 'throttled',
        limit_on: 'channel',
        retry_after_ms: paused_ms,
        provider_code: 'ESME_RTHROTTLED',
        message: 'The SMSC takes fewer messages a second.',
      }
    const link = deps.link()
    if (link === null) return unavailable('The connection with the SMSC is gone.')
    // it may have waited, or the process stalled, while others took the channel
    if (fenceNow()?.() === false) return unavailable(fencedOff)
    const reply = await link.request({
      command: 'submit_sm',
      fields: packet.fields,
      signal,
      late: (pdu) => (tookIt(pdu) ? late(idIn(pdu) || packet.unnamed) : undefined),
      // its receipt may come in the same breath
      heard: (pdu) => (tookIt(pdu) ? remember(memory, idIn(pdu), packet.to) : undefined),
    })
    return judge(deps, link, reply, packet)
  } finally {
    leave()
  }
}

const unavailable = (message: string): Outcome => ({ kind: 'unavailable', provider_code: null, message })

function judge({ window, options }: SubmitDeps, link: Link, reply: Reply, { unnamed }: Packet): string | Outcome {
  if (reply.kind === 'unwritten') return unavailable(reply.message)
  if (reply.kind === 'silent') return { kind: 'unknown', message: reply.message }
  const { pdu } = reply
  if (pdu.command_status === 0) {
    window.taken()
    // without an id its receipts find nothing, and it is not sent again all the same
    return tookIt(pdu) ? idIn(pdu) || unnamed : { kind: 'unknown', message: 'The SMSC answered with something else.' }
  }
  const { name, verdict, message } = submitStatusOf(pdu.command_status, options.retry_statuses)
  if (verdict === 'throttled')
    return { kind: 'throttled', limit_on: 'channel', retry_after_ms: window.throttled(), provider_code: name, message }
  if (verdict === 'refused') return { kind: 'refused', code: 'provider_error', provider_code: name, message }
  if (verdict === 'link') link.end(message)
  return { kind: 'unavailable', provider_code: name, message }
}

const tookIt = (pdu: Pdu): boolean => pdu.command === 'submit_sm_resp' && pdu.command_status === 0

const idIn = (pdu: Pdu): string => plainId(textOf(pdu, 'message_id').trim())

function remember({ ids }: ChannelMemory, id: string, to: string): void {
  // of a longer one no receipt is taken
  if (id !== '' && id.length <= idLengthMax) ids.set(id, to)
  bound(ids, idsMax)
}

/** The fields of each packet. */
function packetsOf(options: Options, { id, to, content, expires_at }: OutboundMessage): Fields[] {
  const { alphabet, long_messages, source } = options
  const { body } = content as { readonly body: string }
  const { data_coding, parts } = encodeText(body, alphabet, long_messages === 'payload')
  const common = {
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: source.address,
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: to.replace(/^\+/, ''),
    registered_delivery: wantsReceipt,
    validity_period: expires_at === null ? '' : absoluteTime(expires_at),
    data_coding,
  }
  const reference = createHash('sha256').update(id).digest().readUInt16BE(0)
  return parts.map((part, index) => ({
    ...common,
    ...partFields(options, part, { reference, total: parts.length, number: index + 1 }),
  }))
}

/** One packet carries as much text as one part of the network does. */
const shortMessageMax = 160

function partFields({ long_messages }: Options, part: Buffer, place: PartPlace): Fields {
  if (long_messages === 'payload')
    return part.length <= shortMessageMax
      ? { short_message: part }
      : { short_message: Buffer.alloc(0), message_payload: part }
  if (place.total === 1) return { short_message: part }
  if (long_messages === 'udh')
    return { esm_class: udhIndicator, short_message: Buffer.concat([joiningHeader(place), part]) }
  return {
    short_message: part,
    sar_msg_ref_num: place.reference,
    sar_total_segments: place.total,
    sar_segment_seqnum: place.number,
  }
}

/** As section 7.1.1 writes a moment: `YYMMDDhhmmsstnnp`, here in UTC. */
const absoluteTime = (iso: string): string => `${iso.replace(/[-:T]/g, '').slice(2, 14)}000+`
