/** Sends messages as `submit_sm`, one for each part. */
import { createHash } from 'node:crypto'
import type { SteadyClock } from '../../lib/clock.ts'
import { fencedOff, fenceNow } from '../../lib/fence.ts'
import type { Outcome, OutboundMessage, OnPartAccepted } from '../provider.ts'
import { nextPart, restLater } from '../outcomes.ts'
import type { SmscConnection, Reply } from './connection.ts'
import { bound, type ChannelMemory, type SendWindow } from './send-window.ts'
import type { Options } from './options.ts'
import { textOf, type Pdu } from './pdu.ts'
import { idLengthMax, normalizedId } from './delivery-receipts.ts'
import { submitStatusOf } from './codes.ts'
import { encodeText, joiningHeader, type PartPosition } from './text-encoding.ts'

export interface SubmitDeps {
  readonly clock: SteadyClock
  readonly options: Options
  readonly memory: ChannelMemory
  readonly window: SendWindow
  connection(): SmscConnection | null
  onLateAcceptance(message_id: string, provider_id: string): void
}

type Fields = Readonly<Record<string, unknown>>

const partialMax = 10_000
const idsMax = 20_000
const udhIndicator = 0x40
const wantsReceipt = 1

/** One part after the other. Their reference is derived from the message id, the same in every process. */
export async function submit(
  deps: SubmitDeps,
  message: OutboundMessage,
  signal: AbortSignal,
  onPartAccepted?: OnPartAccepted,
): Promise<Outcome> {
  const parts = partsOf(deps.options, message)
  const { partial } = deps.memory
  const ids = new Map([...message.already_accepted.entries(), ...(partial.get(message.id) ?? [])])
  let partSignal: AbortSignal | null = signal
  for (const [index, fields] of parts.entries()) {
    if (ids.has(index)) continue
    const unnamed = `unnamed:${message.id}:${index}`
    const outcome = await submitPart(
      deps,
      { fields, unnamed, to: message.to, lateId: () => partial.get(message.id)?.get(index) },
      partSignal,
      (provider_id) => {
        ids.set(index, provider_id)
        partial.set(message.id, ids)
        bound(partial, partialMax)
        if (parts.length === 1) deps.onLateAcceptance(message.id, provider_id)
      },
    )
    if (typeof outcome === 'string') {
      ids.set(index, outcome)
      if (index === parts.length - 1) break
      partSignal = await nextPart(onPartAccepted, [...ids.values()], partSignal)
      if (partSignal === null) return restLater([...ids.values()])
    } else {
      if (outcome.kind === 'refused') partial.delete(message.id)
      return ids.size === 0 || outcome.kind === 'accepted' ? outcome : { ...outcome, provider_ids: [...ids.values()] }
    }
  }
  partial.delete(message.id)
  const provider_ids = parts.map((_, index) => ids.get(index)!) as [string, ...string[]]
  return { kind: 'accepted', provider_ids }
}

interface Part {
  readonly fields: Fields
  readonly unnamed: string
  readonly to: string
  lateId(): string | undefined
}

async function submitPart(
  deps: SubmitDeps,
  part: Part,
  signal: AbortSignal,
  onLate: (provider_id: string) => void,
): Promise<string | Outcome> {
  const { window, memory } = deps
  const leave = await window.enter(signal)
  if (leave === null) return unavailable('Earlier messages were not answered in time.')
  try {
    const provider_id = part.lateId()
    if (provider_id !== undefined) return provider_id
    const paused_ms = window.pausedFor()
    if (paused_ms > 0)
      return {
        kind: 'throttled',
        limit_on: 'channel',
        retry_after_ms: paused_ms,
        provider_code: 'ESME_RTHROTTLED',
        message: 'The SMSC accepts fewer messages per second.',
      }
    const connection = deps.connection()
    if (connection === null) return unavailable('The connection with the SMSC has ended.')
    // another process may have taken over the channel meanwhile
    if (fenceNow()?.() === false) return unavailable(fencedOff)
    const reply = await connection.request({
      command: 'submit_sm',
      fields: part.fields,
      signal,
      onLateResponse: (pdu) => (isAccepted(pdu) ? onLate(idIn(pdu) || part.unnamed) : undefined),
      onResponse: (pdu) => (isAccepted(pdu) ? remember(memory, idIn(pdu), part.to) : undefined),
    })
    return outcomeOf(deps, connection, reply, part)
  } finally {
    leave()
  }
}

const unavailable = (message: string): Outcome => ({ kind: 'unavailable', provider_code: null, message })

function outcomeOf(
  { window, options }: SubmitDeps,
  connection: SmscConnection,
  reply: Reply,
  { unnamed }: Part,
): string | Outcome {
  if (reply.kind === 'unwritten') return unavailable(reply.message)
  if (reply.kind === 'silent') return { kind: 'unknown', message: reply.message }
  const { pdu } = reply
  if (pdu.command_status === 0) {
    window.accepted()
    return isAccepted(pdu)
      ? idIn(pdu) || unnamed
      : { kind: 'unknown', message: 'The SMSC answered with another command.' }
  }
  const { name, verdict, message } = submitStatusOf(pdu.command_status, options.retry_statuses)
  if (verdict === 'throttled')
    return { kind: 'throttled', limit_on: 'channel', retry_after_ms: window.throttled(), provider_code: name, message }
  if (verdict === 'refused') return { kind: 'refused', code: 'provider_error', provider_code: name, message }
  if (verdict === 'unbound') connection.end(message)
  return { kind: 'unavailable', provider_code: name, message }
}

const isAccepted = (pdu: Pdu): boolean => pdu.command === 'submit_sm_resp' && pdu.command_status === 0

const idIn = (pdu: Pdu): string => normalizedId(textOf(pdu, 'message_id').trim())

function remember({ ids }: ChannelMemory, id: string, to: string): void {
  if (id !== '' && id.length <= idLengthMax) ids.set(id, to)
  bound(ids, idsMax)
}

function partsOf(options: Options, { id, to, content, expires_at }: OutboundMessage): Fields[] {
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

const shortMessageMax = 160

function partFields({ long_messages }: Options, part: Buffer, position: PartPosition): Fields {
  if (long_messages === 'payload')
    return part.length <= shortMessageMax
      ? { short_message: part }
      : { short_message: Buffer.alloc(0), message_payload: part }
  if (position.total === 1) return { short_message: part }
  if (long_messages === 'udh')
    return { esm_class: udhIndicator, short_message: Buffer.concat([joiningHeader(position), part]) }
  return {
    short_message: part,
    sar_msg_ref_num: position.reference,
    sar_total_segments: position.total,
    sar_segment_seqnum: position.number,
  }
}

/** Section 7.1.1: `YYMMDDhhmmsstnnp`, in UTC. */
const absoluteTime = (iso: string): string => `${iso.replace(/[-:T]/g, '').slice(2, 14)}000+`
