/**
 * SMPP 3.4's packets as bytes, by the tables of the package `smpp`. Of the package nothing else is used: its session ends the process where nobody listens for
 * its errors, keeps time by itself, and guesses the alphabet of a text.
 */
import defs from 'smpp/lib/defs.js'
import { PDU } from 'smpp/lib/pdu.js'

/** A packet: its header, and its fields by their names in the specification. Texts are bytes here. */
export interface Pdu {
  readonly command: string
  readonly command_status: number
  readonly sequence_number: number
  readonly [field: string]: unknown
}

// the package turns texts and times into values of its own, and throws where they are odd; here they stay what came
for (const field of [
  ...Object.values(defs.commands).flatMap(({ params }) => Object.values(params ?? {})),
  ...Object.values(defs.tlvs),
])
  delete field.filter

const headerBytes = 16
/** The longest packet that is read, as in the package; a whole text of 255 parts is longer, and no network carries it. */
const packetBytesMax = 16_384

/** Bytes of a packet. With a `command_status` it has no fields. */
export const encode = (command: string, fields: Readonly<Record<string, unknown>>): Buffer =>
  new PDU(command, { ...defaults(command), ...fields }).toBuffer()

const defaults = (command: string): Record<string, unknown> =>
  command.startsWith('bind_') && !command.endsWith('_resp') ? { interface_version: 0x34 } : {}

/** What the bytes of one whole packet say. Where its fields do not fit its length it has none; `misfitOf` tells. */
export function decode(bytes: Buffer): Pdu {
  try {
    return new PDU(bytes)
  } catch {
    const [command_id, command_status, sequence_number] = [
      bytes.readUInt32BE(4),
      bytes.readUInt32BE(8),
      bytes.readUInt32BE(12),
    ]
    // only commands that are known have fields to fail over
    return { command: defs.commandsById[command_id]!.command, command_id, command_status, sequence_number }
  }
}

/** What of a message that came does not fit the length of its packet: the fields before the text, the text, or the optional parameters. */
export type Misfit = 'fields' | 'text' | 'parameters'

/** Looks whether a `deliver_sm` or `data_sm` is whole; null where it is. The package reads what is there of one that is not, and makes nothing of the rest. */
export function misfitOf(bytes: Buffer, command: string): Misfit | null {
  let at = headerBytes
  for (const { type } of Object.values(defs.commands[command]?.params ?? {})) {
    if (at >= bytes.length) return 'fields'
    if (type === defs.types.int8) at += 1
    else if (type === defs.types.cstring) {
      const end = bytes.indexOf(0, at)
      if (end === -1) return 'fields'
      at = end + 1
    } else {
      at += 1 + bytes[at]!
      if (at > bytes.length) return 'text'
    }
  }
  // a zero or two behind the last field mean nothing
  while (at + 4 <= bytes.length) at += 4 + bytes.readUInt16BE(at + 2)
  return at > bytes.length || bytes.subarray(at).some((byte) => byte !== 0) ? 'parameters' : null
}

/** The command that answers this one; null where it has no answer. */
export const answerTo = (command: string): string | null =>
  command === 'unknown' ? 'generic_nack' : defs.commands[`${command}_resp`] === undefined ? null : `${command}_resp`

/** Cuts a stream into packets. */
export interface Framing {
  /** The packets that are whole with these bytes; null where the stream cannot be followed any more. */
  push(chunk: Buffer): Buffer[] | null
}

export function framing(): Framing {
  let chunks: Buffer[] = []
  let size = 0
  return {
    push(chunk) {
      chunks.push(chunk)
      size += chunk.length
      const packets: Buffer[] = []
      if (size < 4) return packets
      let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks, size)
      while (rest.length >= 4) {
        const length = rest.readUInt32BE(0)
        if (length < headerBytes || length > packetBytesMax) return null
        if (rest.length < length) break
        packets.push(rest.subarray(0, length))
        rest = rest.subarray(length)
      }
      chunks = rest.length === 0 ? [] : [rest]
      size = rest.length
      return packets
    },
  }
}

/** A number among the fields; 0 where there is none. */
export const numberOf = (pdu: Pdu, field: string): number => (typeof pdu[field] === 'number' ? pdu[field] : 0)

/** A text of ASCII among the fields, without the zero that ends it; empty where there is none. */
export const textOf = (pdu: Pdu, field: string): string =>
  typeof pdu[field] === 'string' ? pdu[field].replace(/\0.*$/s, '') : ''

/** Bytes among the fields; none where there are none. */
export const bytesOf = (pdu: Pdu, field: string): Buffer => (Buffer.isBuffer(pdu[field]) ? pdu[field] : Buffer.alloc(0))
