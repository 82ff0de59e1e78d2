/** An SMSC for tests, with its own implementation of SMPP 3.4. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { TestContext } from 'node:test'
import { within } from '../waiting.ts'

const commands = {
  generic_nack: 0x80000000,
  bind_receiver: 0x01,
  bind_transmitter: 0x02,
  submit_sm: 0x04,
  deliver_sm: 0x05,
  unbind: 0x06,
  bind_transceiver: 0x09,
  enquire_link: 0x15,
} as const

const answerBit = 0x80000000

export interface Submitted {
  readonly id: string
  readonly source: { readonly ton: number; readonly npi: number; readonly address: string }
  readonly destination: string
  readonly esm_class: number
  readonly validity_period: string
  readonly registered_delivery: number
  readonly data_coding: number
  readonly bytes: Buffer
  readonly tlvs: ReadonlyMap<number, Buffer>
}

export interface Delivering {
  readonly source?: string
  readonly source_ton?: number
  readonly destination?: string
  readonly esm_class?: number
  readonly data_coding?: number
  readonly bytes?: Buffer
  readonly tlvs?: readonly (readonly [number, Buffer])[]
}

export interface Smsc {
  readonly port: number
  readonly host: string
  readonly system_id: string
  password: string
  readonly submitted: readonly Submitted[]
  readonly binds: readonly { readonly command: string; readonly status: number }[]
  bound(): number
  readonly boundMost: () => number
  /** Status of `submit_sm` responses: 0 accepts, null sends none. */
  answer: number | null | ((message: Submitted, nth: number) => number | null)
  bindStatus: number
  enquiries: number
  answersEnquiries: boolean
  nextId(): string
  /** Resolves to the response status, or null if the connection ended. */
  deliver(message: Delivering): Promise<number | null>
  deliverBody(body: Buffer): Promise<number | null>
  receipt(message: Submitted, stat: string, id?: string): Promise<number | null>
  write(bytes: Buffer): void
  cut(): void
  unbindAll(): void
  goodbyes: number
  close(): Promise<void>
}

interface Peer {
  readonly socket: Socket
  mode: 'transceiver' | 'transmitter' | 'receiver' | null
  buffer: Buffer
}

const cstring = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1')

export function packet(command_id: number, status: number, sequence: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32BE(16 + body.length, 0)
  header.writeUInt32BE(command_id, 4)
  header.writeUInt32BE(status, 8)
  header.writeUInt32BE(sequence, 12)
  return Buffer.concat([header, body])
}

export const tlv = (tag: number, value: Buffer): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(tag, 0)
  head.writeUInt16BE(value.length, 2)
  return Buffer.concat([head, value])
}

export function messageBody(message: Delivering): Buffer {
  const bytes = message.bytes ?? Buffer.alloc(0)
  return Buffer.concat([
    cstring(''),
    Buffer.from([message.source_ton ?? 1, 1]),
    cstring(message.source ?? '4915112345678'),
    Buffer.from([1, 1]),
    cstring(message.destination ?? '4915100000001'),
    Buffer.from([message.esm_class ?? 0, 0, 0]),
    cstring(''),
    cstring(''),
    Buffer.from([0, 0, message.data_coding ?? 0, 0, bytes.length]),
    bytes,
    ...(message.tlvs ?? []).map(([tag, value]) => tlv(tag, value)),
  ])
}

function readSubmitted(body: Buffer, id: string): Submitted {
  let at = 0
  const text = () => {
    const end = body.indexOf(0, at)
    const value = body.toString('latin1', at, end)
    at = end + 1
    return value
  }
  const byte = () => body[at++]!
  text() // service_type
  const source = { ton: byte(), npi: byte(), address: text() }
  at += 2
  const destination = text()
  const esm_class = byte()
  at += 2 // protocol_id, priority_flag
  text() // schedule_delivery_time
  const validity_period = text()
  const registered_delivery = byte()
  byte() // replace_if_present_flag
  const data_coding = byte()
  byte() // sm_default_msg_id
  const length = byte()
  const bytes = body.subarray(at, at + length)
  at += length
  const tlvs = new Map<number, Buffer>()
  while (at + 4 <= body.length) {
    const size = body.readUInt16BE(at + 2)
    tlvs.set(body.readUInt16BE(at), body.subarray(at + 4, at + 4 + size))
    at += 4 + size
  }
  return { id, source, destination, esm_class, validity_period, registered_delivery, data_coding, bytes, tlvs }
}

export interface SmscOptions {
  readonly id?: (n: number) => string
  readonly bindsMax?: number
  /** Ends the oldest connection instead of refusing a new one. */
  readonly endsOldest?: boolean
  readonly answersAfter?: () => Promise<void>
  readonly tls?: { readonly key: string; readonly cert: string }
}

interface State {
  readonly made: Smsc
  readonly submitted: Submitted[]
  readonly binds: { command: string; status: number }[]
  readonly peers: Set<Peer>
  readonly waiting: Map<number, (status: number | null) => void>
  readonly id: (n: number) => string
  readonly bindsMax: number
  readonly endsOldest: boolean
  readonly answersAfter: (() => Promise<void>) | undefined
  sequence: number
  ids: number
  most: number
}

const boundOf = ({ peers }: State): number => [...peers].filter(({ mode }) => mode !== null).length

async function deliverBody(state: State, body: Buffer): Promise<number | null> {
  const peer = [...state.peers].findLast(({ mode }) => mode === 'transceiver' || mode === 'receiver')
  if (peer === undefined) return null
  const { promise, resolve } = Promise.withResolvers<number | null>()
  state.sequence += 1
  state.waiting.set(state.sequence, resolve)
  peer.socket.write(packet(commands.deliver_sm, 0, state.sequence, body))
  return await promise
}

function receiptOf(message: Submitted, stat: string, receipt_id: string): Delivering {
  const text = `id:${receipt_id} sub:001 dlvrd:001 submit date:2601310930 done date:2601310931 stat:${stat} err:000 text:Hi`
  const bytes = Buffer.from(text, 'latin1')
  return {
    source: message.destination,
    esm_class: 0x04,
    ...(bytes.length <= 254 ? { bytes } : { tlvs: [[0x0424, bytes]] }),
  }
}

function bind(state: State, peer: Peer, command: string, sequence_number: number, body: Buffer): void {
  const [system_id, password] = body.toString('latin1').split('\0')
  const right = system_id === state.made.system_id && password === state.made.password
  const oldest =
    right && state.endsOldest && boundOf(state) >= state.bindsMax
      ? [...state.peers].find(({ mode }) => mode !== null)
      : undefined
  if (oldest !== undefined) {
    oldest.mode = null
    oldest.socket.destroy()
  }
  const status =
    state.made.bindStatus !== 0 ? state.made.bindStatus : !right ? 0x0e : boundOf(state) >= state.bindsMax ? 0x05 : 0
  state.binds.push({ command, status })
  peer.socket.write(
    packet(
      commands[command as 'bind_transceiver'] + answerBit,
      status,
      sequence_number,
      status === 0 ? cstring('smsc') : Buffer.alloc(0),
    ),
  )
  if (status !== 0) return
  peer.mode = command.slice('bind_'.length) as Peer['mode']
  state.most = Math.max(state.most, boundOf(state))
}

function submit(state: State, peer: Peer, sequence_number: number, body: Buffer): void {
  const message = readSubmitted(body, state.id(state.ids + 1))
  const nth = state.submitted.push(message)
  const answer = typeof state.made.answer === 'function' ? state.made.answer(message, nth) : state.made.answer
  if (answer === null) return
  if (answer === 0) state.ids += 1
  const answered = packet(
    commands.submit_sm + answerBit,
    answer,
    sequence_number,
    answer === 0 ? cstring(message.id) : Buffer.alloc(0),
  )
  if (state.answersAfter === undefined) peer.socket.write(answered)
  else void state.answersAfter().then(() => (peer.socket.destroyed ? undefined : peer.socket.write(answered)))
}

function take(state: State, peer: Peer, bytes: Buffer): void {
  const [command_id, status, sequence_number] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8), bytes.readUInt32BE(12)]
  const body = bytes.subarray(16)
  const name = Object.entries(commands).find(([, code]) => code === command_id)?.[0]
  if (name?.startsWith('bind_') === true) return bind(state, peer, name, sequence_number, body)
  if (name === 'submit_sm') {
    submit(state, peer, sequence_number, body)
  } else if (name === 'enquire_link') {
    state.made.enquiries += 1
    if (state.made.answersEnquiries) peer.socket.write(packet(commands.enquire_link + answerBit, 0, sequence_number))
  } else if (name === 'unbind') {
    peer.mode = null
    peer.socket.end(packet(commands.unbind + answerBit, 0, sequence_number))
  } else if (command_id === commands.unbind + answerBit) state.made.goodbyes += 1
  else if (command_id === commands.deliver_sm + answerBit || command_id === commands.generic_nack) {
    state.waiting.get(sequence_number)?.(status)
    state.waiting.delete(sequence_number)
  }
}

function connected(state: State, socket: Socket): void {
  const peer: Peer = { socket, mode: null, buffer: Buffer.alloc(0) }
  state.peers.add(peer)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    state.peers.delete(peer)
    if (boundOf(state) > 0) return
    for (const resolve of state.waiting.values()) resolve(null)
    state.waiting.clear()
  })
  socket.on('data', (chunk: Buffer) => {
    peer.buffer = Buffer.concat([peer.buffer, chunk])
    while (peer.buffer.length >= 4 && peer.buffer.length >= peer.buffer.readUInt32BE(0)) {
      const length = peer.buffer.readUInt32BE(0)
      take(state, peer, peer.buffer.subarray(0, length))
      peer.buffer = peer.buffer.subarray(length)
    }
  })
}

const hexId = (n: number): string => n.toString(16).padStart(8, '0')

export async function smsc(
  t: Pick<TestContext, 'after'>,
  { id = hexId, bindsMax = 2, endsOldest = false, answersAfter, tls }: SmscOptions = {},
): Promise<Smsc> {
  const options = { id, bindsMax, endsOldest, answersAfter }
  const peers = new Set<Peer>()
  const submitted: Submitted[] = []
  const binds: { command: string; status: number }[] = []
  const made: Smsc = {
    port: 0,
    host: '',
    system_id: 'shop',
    password: 'secret',
    submitted,
    binds,
    bound: () => boundOf(state),
    boundMost: () => state.most,
    answer: 0,
    bindStatus: 0,
    enquiries: 0,
    answersEnquiries: true,
    goodbyes: 0,
    nextId: () => id(state.ids + 1),
    deliver: (message) => made.deliverBody(messageBody(message)),
    deliverBody: (body) => deliverBody(state, body),
    receipt: (message, stat, receipt_id = message.id) => made.deliver(receiptOf(message, stat, receipt_id)),
    write: (bytes) => peers.forEach(({ socket }) => socket.write(bytes)),
    cut: () => peers.forEach(({ socket }) => socket.destroy()),
    unbindAll: () => peers.forEach(({ socket }) => socket.write(packet(commands.unbind, 0, (state.sequence += 1)))),
    async close() {
      made.cut()
      server.close()
      await within('the SMSC to close', once(server, 'close'))
    },
  }

  const counts = { sequence: 0, ids: 0, most: 0 }
  const state: State = { ...options, made, submitted, binds, peers, waiting: new Map(), ...counts }
  const accept = (socket: Socket) => connected(state, socket)
  const server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept)
  server.listen(0, '127.0.0.1')
  await within('the SMSC to listen', once(server, 'listening'))
  const { port } = server.address() as AddressInfo
  Object.assign(made, { port, host: `127.0.0.1:${port}` })
  t.after(() => (server.listening ? made.close() : undefined))
  return made
}
