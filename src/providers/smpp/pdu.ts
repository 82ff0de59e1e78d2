/** SMPP 3.4 PDUs, with the tables of the package `smpp` but not its sessions, which crash on unhandled errors. */
import defs from 'smpp/lib/defs.js'
import { PDU } from 'smpp/lib/pdu.js'

export interface Pdu {
  readonly command: string
  readonly command_status: number
  readonly sequence_number: number
  readonly [field: string]: unknown
}

// the package converts texts and times, and throws on odd ones
for (const field of [
  ...Object.values(defs.commands).flatMap(({ params }) => Object.values(params ?? {})),
  ...Object.values(defs.tlvs),
])
  delete field.filter

const headerBytes = 16
const packetBytesMax = 16_384

export const encode = (command: string, fields: Readonly<Record<string, unknown>>): Buffer =>
  new PDU(command, { ...defaults(command), ...fields }).toBuffer()

const defaults = (command: string): Record<string, unknown> =>
  command.startsWith('bind_') && !command.endsWith('_resp') ? { interface_version: 0x34 } : {}

/** Leaves the fields out if they do not fit its length. */
export function decode(bytes: Buffer): Pdu {
  try {
    return new PDU(bytes)
  } catch {
    const [command_id, command_status, sequence_number] = [
      bytes.readUInt32BE(4),
      bytes.readUInt32BE(8),
      bytes.readUInt32BE(12),
    ]
    return { command: defs.commandsById[command_id]!.command, command_id, command_status, sequence_number }
  }
}

export type Malformed = 'fields' | 'text' | 'parameters'

/** The package silently decodes an incomplete `deliver_sm` or `data_sm`. */
export function malformedPart(bytes: Buffer, command: string): Malformed | null {
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
  while (at + 4 <= bytes.length) at += 4 + bytes.readUInt16BE(at + 2)
  return at > bytes.length || bytes.subarray(at).some((byte) => byte !== 0) ? 'parameters' : null
}

export const responseTo = (command: string): string | null =>
  command === 'unknown' ? 'generic_nack' : defs.commands[`${command}_resp`] === undefined ? null : `${command}_resp`

export interface Framing {
  /** null if the stream is corrupt. */
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

export const numberOf = (pdu: Pdu, field: string): number => (typeof pdu[field] === 'number' ? pdu[field] : 0)

export const textOf = (pdu: Pdu, field: string): string =>
  typeof pdu[field] === 'string' ? pdu[field].replace(/\0.*$/s, '') : ''

export const bytesOf = (pdu: Pdu, field: string): Buffer => (Buffer.isBuffer(pdu[field]) ? pdu[field] : Buffer.alloc(0))
