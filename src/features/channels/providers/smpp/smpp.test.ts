/** What SMPP promises beside what every provider does: the packets that go out, the answers to what comes in, and what a broken link means. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { adapterSuite } from '../../../../../test/kit/adapter-suite.ts'
import { certificate, certificateKey } from '../../../../../test/kit/certificate.ts'
import { fakeClock } from '../../../../../test/kit/clock.ts'
import { messageOf } from '../../../../../test/kit/conformance/hand-over.ts'
import { providerTools } from '../../../../../test/kit/provider-tools.ts'
import { messageBody, packet, smsc, type Smsc, type SmscOptions } from '../../../../../test/kit/simulators/smsc.ts'
import { until, within } from '../../../../../test/kit/waiting.ts'
import type { Connection, InboundMessage, OutboundMessage, Receipt, Report } from '../../adapter.ts'
import { otherAddressee } from './addressees.ts'
import { smpp } from './smpp.ts'

const never = new AbortController().signal
const to = '+4915112345678'

const connectionTo = ({ port }: { readonly port: number }, settings: object = {}, credentials: object = {}): Connection => ({
  channel_id: 'ch_1',
  type: 'sms',
  identifier: '+4915100000001',
  credentials: { host: '127.0.0.1', port, system_id: 'shop', password: 'secret', ...credentials },
  settings: { enquire_link_seconds: 600, ...settings },
  webhook_url: 'https://example.com/hooks/channels/ch_1',
})

adapterSuite(smpp, async (t) => {
  const sim = await smsc(t, { bindsMax: 100 })
  let taken = 0
  return {
    tools: providerTools({ allowed_hosts: [sim.host] }),
    connection: connectionTo(sim),
    wrongConnection: connectionTo(sim, {}, { password: 'wrong' }),
    given: { host: 'smpp.example.com', port: 2775, system_id: 'shop', password: 'secret' },
    outcomes: {
      accepted: { to },
      refused: { to, before: () => void (sim.answer = 0x0b), expected: { code: 'provider_error', provider_code: 'ESME_RINVDSTADR' } },
      throttled: [
        { to, before: () => void (sim.answer = 0x58), expected: { provider_code: 'ESME_RTHROTTLED', retry_after_ms: 1000 } },
        { to, before: () => void (sim.answer = 0x14), expected: { provider_code: 'ESME_RMSGQFUL' } },
      ],
      unavailable: { to, before: () => void (sim.answer = 0x08), expected: { provider_code: 'ESME_RSYSERR' } },
      unknown: { to, before: () => void (sim.answer = () => (setImmediate(sim.cut), null)) },
    },
    several: {
      message: { to, content: { body: 'a'.repeat(400) } },
      count: 3,
      breakAfterFirst(how) {
        sim.answer = (_, nth) => {
          if (nth === 2) return how === 'later' ? 0x14 : 0x0b
          taken += 1
          return 0
        }
      },
      taken: () => taken,
    },
    hostile: { why_not: 'It speaks SMPP over TCP.' },
    session: { connection: connectionTo(sim), say: (body) => sim.deliver({ source: '4915112345678', bytes: Buffer.from(body) }) },
    hostilePeer: (port) => ({ tools: providerTools({ allowed_hosts: [`127.0.0.1:${port}`] }), connection: connectionTo({ port }) }),
  }
})

interface Options {
  readonly settings?: object
  readonly credentials?: object
  readonly smsc?: SmscOptions
}

/** A session with an SMSC, and what it tells. */
async function linked(t: TestContext, { settings, credentials, smsc: options }: Options = {}) {
  const sim = await smsc(t, options)
  const clock = fakeClock()
  const adapter = smpp.adapter(providerTools({ clock, allowed_hosts: [sim.host] }))
  const told: Report[] = []
  const raw: Uint8Array[] = []
  const storing: { fails: boolean } = { fails: false }
  const lease: { own: boolean } = { own: true }
  const connection = connectionTo(sim, settings, credentials)
  const open = async () => {
    const opened = await adapter.open!(
      connection,
      async (reports, bytes) => {
        if (storing.fails) throw new Error('the database is away')
        told.push(...reports)
        raw.push(bytes)
      },
      never,
      () => lease.own,
    )
    if (opened.kind !== 'open') throw new Error(opened.message)
    t.after(() => opened.session.close(AbortSignal.abort()))
    return opened.session
  }
  const session = await open()
  const send = (body: string, more: Partial<OutboundMessage> = {}, signal = never, by = session) =>
    by.send!(messageOf(connection, { to, content: { body }, ...more }), signal)
  return { sim, clock, session, open, send, told, raw, storing, lease }
}

const bodyOf = ({ bytes, esm_class }: Smsc['submitted'][number]) => ((esm_class & 0x40) === 0 ? bytes : bytes.subarray(bytes[0]! + 1))

test('a session that could not be bound leaves nothing running', async (t) => {
  const sim = await smsc(t)
  const clock = fakeClock()
  const adapter = smpp.adapter(providerTools({ clock, allowed_hosts: [sim.host] }))
  const connection = connectionTo(sim, {}, { password: 'wrong' })

  const opened = await adapter.open!(connection, () => Promise.resolve(), never)

  assert.equal(opened.kind, 'refused')
  assert.deepEqual(clock.wakesAt(), [])
})

test('a short text is one packet with the sender, the recipient, the alphabet and the wish for a receipt', async (t) => {
  const { sim, send } = await linked(t)

  const outcome = await send('Hi @ {€}', { expires_at: '2026-02-01T10:00:00.000Z' })

  const { bytes, tlvs, ...fields } = sim.submitted[0]!
  assert.deepEqual(outcome, { kind: 'accepted', provider_ids: ['1'] })
  assert.deepEqual(fields, {
    id: '00000001',
    source: { ton: 1, npi: 1, address: '4915100000001' },
    destination: '4915112345678',
    esm_class: 0,
    validity_period: '260201100000000+',
    registered_delivery: 1,
    data_coding: 0,
  })
  assert.equal(bytes.toString('hex'), '48692000201b281b651b29')
  assert.equal(tlvs.size, 0)
})

test('a long text goes in parts that a header joins, and what the alphabet lacks goes as UCS-2', async (t) => {
  const { sim, send } = await linked(t)

  const long = await send('a'.repeat(152) + '€' + 'b'.repeat(10))
  const emoji = await send('😀'.repeat(40))

  assert.deepEqual(
    [long, emoji].map((outcome) => (outcome.kind === 'accepted' ? outcome.provider_ids : outcome)),
    [
      ['1', '2'],
      ['3', '4'],
    ],
  )
  const [first, second, third, fourth] = sim.submitted as [
    Smsc['submitted'][number],
    Smsc['submitted'][number],
    Smsc['submitted'][number],
    Smsc['submitted'][number],
  ]
  assert.equal(first.esm_class, 0x40)
  assert.equal(first.bytes.subarray(0, 3).toString('hex'), '050003')
  assert.deepEqual([...first.bytes.subarray(4, 6), ...second.bytes.subarray(4, 6)], [2, 1, 2, 2])
  assert.equal(first.bytes[3], second.bytes[3])
  // the euro sign, of two septets, is not split
  assert.deepEqual([bodyOf(first).length, bodyOf(second).subarray(0, 2).toString('hex')], [152, '1b65'])
  assert.deepEqual([third.data_coding, bodyOf(third).length, bodyOf(fourth).length], [8, 132, 28])
})

test('parts are joined by parameters, or cut by the SMSC, where the operator asks for that', async (t) => {
  const sar = await linked(t, { settings: { long_messages: 'sar' } })
  const payload = await linked(t, { settings: { long_messages: 'payload' } })

  await sar.send('a'.repeat(200))
  await payload.send('a'.repeat(200))
  await payload.send('short')

  const [one, two] = sar.sim.submitted as [Smsc['submitted'][number], Smsc['submitted'][number]]
  assert.deepEqual(
    [one, two].map(({ tlvs }) => [tlvs.get(0x020e)?.[0], tlvs.get(0x020f)?.[0]]),
    [
      [2, 1],
      [2, 2],
    ],
  )
  assert.deepEqual(one.tlvs.get(0x020c), two.tlvs.get(0x020c))
  assert.deepEqual([one.bytes.length, two.bytes.length], [153, 47])
  const [whole, short] = payload.sim.submitted as [Smsc['submitted'][number], Smsc['submitted'][number]]
  assert.deepEqual([whole.bytes.length, whole.tlvs.get(0x0424)?.length, short.bytes.toString()], [0, 200, 'short'])
})

test('an operator with another alphabet gets what that has, and UCS-2 for the rest', async (t) => {
  const { sim, send } = await linked(t, { settings: { alphabet: 'latin1', source_ton: 3, source_npi: 8 } })

  await send('Grüße @')
  await send('5 €')

  assert.deepEqual(
    sim.submitted.map(({ data_coding, bytes }) => [data_coding, bytes.toString(data_coding === 0 ? 'latin1' : 'hex')]),
    [
      [0, 'Grüße @'],
      [8, '0035002020ac'],
    ],
  )
  assert.deepEqual(sim.submitted[0]!.source, { ton: 3, npi: 8, address: '4915100000001' })
})

test('no more messages wait for an answer than the window lets', async (t) => {
  const { sim, send } = await linked(t, { settings: { window_size: 2 } })
  sim.answer = null
  const over = new AbortController()

  const three = ['1', '2', '3'].map((end) => send('Hi', { id: `msg_${end}` }, over.signal))
  await until('two messages', () => sim.submitted.length === 2)
  over.abort()

  assert.deepEqual((await Promise.all(three)).map(({ kind }) => kind).toSorted(), ['unavailable', 'unknown', 'unknown'])
  assert.equal(sim.submitted.length, 2)
})

test('what waits for the window, or for the parts before it, is not sent once another process may be bound', async (t) => {
  const { sim, send, lease } = await linked(t, { settings: { window_size: 1 } })
  sim.answer = () => {
    lease.own = false
    return 0
  }

  const outcomes = await Promise.all([send('a'.repeat(200), { id: 'msg_1' }), send('Hi', { id: 'msg_2' })])

  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['unavailable', 'unavailable'],
  )
  assert.equal(sim.submitted.length, 1)
})

test('a throttled SMSC is left alone for a second, then two, until it takes something', async (t) => {
  const { sim, clock, send } = await linked(t)
  sim.answer = 0x58

  const waits: unknown[] = []
  for (let n = 0; n < 3; n++) {
    const outcome = await send('Hi')
    const asked = await send('Hi')
    assert.ok(outcome.kind === 'throttled' && asked.kind === 'throttled')
    waits.push(outcome.retry_after_ms)
    await clock.advance(outcome.retry_after_ms!)
  }
  sim.answer = 0
  await send('Hi')
  sim.answer = 0x58
  const again = await send('Hi')

  assert.deepEqual(waits, [1000, 2000, 4000])
  assert.equal(again.kind === 'throttled' ? again.retry_after_ms : null, 1000)
  assert.equal(sim.submitted.length, 5)
})

test('parts that were taken before the link died do not go again when the message is repeated', async (t) => {
  const { sim, session, open, send } = await linked(t)
  sim.answer = (_, nth) => (nth === 2 ? (setImmediate(sim.cut), null) : 0)
  const body = 'a'.repeat(400)

  const first = await send(body)
  await session.ended
  const already_accepted = first.kind === 'accepted' ? [] : (first.provider_ids ?? [])
  const second = await send(body, { already_accepted }, never, await open())

  assert.equal(first.kind, 'unknown')
  assert.deepEqual(second, { kind: 'accepted', provider_ids: ['1', '2', '3'] })
  // part 2 may have arrived the first time, which nobody knows: it alone is there twice, and is the same part to the phone
  assert.deepEqual(
    sim.submitted.map(({ bytes }) => bytes[5]),
    [1, 2, 2, 3],
  )
  assert.equal(new Set(sim.submitted.map(({ bytes }) => bytes[3])).size, 1)
})

test('a message whose answer comes late is not sent twice', async (t) => {
  const { sim, send, told } = await linked(t)
  sim.answer = null
  const over = new AbortController()
  const first = send('Hi', {}, over.signal)
  await until('the message', () => sim.submitted.length === 1)
  over.abort()
  assert.equal((await first).kind, 'unknown')

  // the second packet of this connection, after the bind
  sim.write(packet(0x80000004, 0, 2, Buffer.from('a1\0')))
  await until('the answer to be told', () => told.length === 1)
  const again = await send('Hi')

  assert.deepEqual(told, [{ kind: 'receipt', provider_id: 'a1', message_id: 'msg_00000000000000000000000001', transition: 'accept' }])
  assert.deepEqual(again, { kind: 'accepted', provider_ids: ['a1'] })
  assert.equal(sim.submitted.length, 1)
})

test('a message is certainly not sent when the link is gone before', async (t) => {
  const { sim, session, send } = await linked(t)

  sim.cut()
  const ended = await within('the end', session.ended)

  assert.equal(ended.refused, false)
  assert.equal((await send('Hi')).kind, 'unavailable')
})

test('receipts are read from their text and from parameters, whatever way they write the id', async (t) => {
  const { sim, send, told } = await linked(t, { smsc: { id: (n) => (0xabc0 + n).toString(16).toUpperCase() } })
  await send('Hi')
  await send('Hi')
  const [one, two] = sim.submitted as [Smsc['submitted'][number], Smsc['submitted'][number]]

  await sim.receipt(one, 'DELIVRD', String(0xabc1))
  await sim.receipt(two, 'UNDELIV')
  await sim.receipt(two, 'UNKNOWN')
  await sim.deliver({
    esm_class: 0x04,
    tlvs: [
      [0x001e, Buffer.from('ABC1\0')],
      [0x0427, Buffer.from([8])],
      [0x0423, Buffer.from([3, 0, 27])],
    ],
  })

  assert.deepEqual(told, [
    { kind: 'receipt', provider_id: 'abc1', transition: 'deliver' },
    {
      kind: 'receipt',
      provider_id: 'abc2',
      transition: 'fail',
      error: { code: 'provider_error', message: 'The message cannot be delivered.', provider_code: 'UNDELIV:000' },
    },
    {
      kind: 'receipt',
      provider_id: 'abc1',
      transition: 'fail',
      error: { code: 'provider_error', message: 'The operator rejected the message.', provider_code: 'REJECTD:027' },
    },
  ])
})

test('a receipt that comes in the same breath as the answer is of that message, whatever else its id may mean', async (t) => {
  const { sim, send, told } = await linked(t)
  const answered = Buffer.from('00000161\0')
  const receipt = Buffer.from('id:00000161 sub:001 dlvrd:001 submit date:2601310930 done date:2601310931 stat:DELIVRD err:000 Text:Hi')
  sim.answer = () => {
    // the bind was the first of its packets
    sim.write(Buffer.concat([packet(0x80000004, 0, 2, answered), packet(0x05, 0, 1, messageBody({ esm_class: 0x04, bytes: receipt }))]))
    return null
  }

  const outcome = await send('Hi')
  await until('the receipt', () => told.length === 1)

  assert.deepEqual(outcome, { kind: 'accepted', provider_ids: ['161'] })
  assert.deepEqual(told, [{ kind: 'receipt', provider_id: '161', transition: 'deliver' }])
})

test('a receipt of a message that this process does not remember names all ids that it may mean', async (t) => {
  const auto = await linked(t)
  const decimal = await linked(t, { settings: { receipt_ids: 'decimal' } })
  const text = Buffer.from('id:0000000255 sub:001 dlvrd:001 submit date:2601310930 done date:2601310931 stat:DELIVRD err:000 Text:Hi')

  for (const { sim } of [auto, decimal]) await sim.deliver({ esm_class: 0x04, bytes: text })

  assert.deepEqual(
    (auto.told as Receipt[]).map(({ provider_id, also_known_as }) => [provider_id, also_known_as]),
    [['255', ['ff', '597']]],
  )
  assert.deepEqual(
    (decimal.told as Receipt[]).map(({ provider_id, also_known_as }) => [provider_id, also_known_as]),
    [['ff', ['255']]],
  )
})

const inboundOf = (told: readonly Report[]) => (told as InboundMessage[]).map(({ from, type, content }) => [from, type, content])

test('what recipients write is read in every alphabet', async (t) => {
  const { sim, told } = await linked(t)

  await sim.deliver({ bytes: Buffer.from('48692000201b65', 'hex') })
  await sim.deliver({ bytes: Buffer.from('0048d83dde00', 'hex'), data_coding: 8 })
  await sim.deliver({ bytes: Buffer.from('Grüße', 'latin1'), data_coding: 3 })
  await sim.deliver({ tlvs: [[0x0424, Buffer.from('a long one')]], source: '4915112345678', source_ton: 0 })
  await sim.deliver({ bytes: Buffer.from([1, 2]), data_coding: 4, source: '4711', source_ton: 0 })

  assert.deepEqual(inboundOf(told), [
    [to, 'text', { body: 'Hi @ €' }],
    [to, 'text', { body: 'H😀' }],
    [to, 'text', { body: 'Grüße' }],
    [to, 'text', { body: 'a long one' }],
    ['4711', 'unsupported', { provider_type: 'binary' }],
  ])
  assert.equal(new Set(told.map(({ provider_id }) => provider_id)).size, 5)
})

const part = (reference: Buffer, total: number, number: number, text: string) => ({
  esm_class: 0x40,
  bytes: Buffer.concat([
    Buffer.from([reference.length + 4, reference.length === 1 ? 0 : 8, reference.length + 2]),
    reference,
    Buffer.from([total, number]),
    Buffer.from(text),
  ]),
})

const sarPart = (reference: number, total: number, number: number) => ({
  tlvs: [
    [0x020c, Buffer.from([0, reference])],
    [0x020e, Buffer.from([total])],
    [0x020f, Buffer.from([number])],
  ] as const,
})

test('parts that come in are told as parts, each stored before it is answered', async (t) => {
  const { sim, told, storing } = await linked(t)

  await sim.deliver(part(Buffer.from([7]), 2, 2, 'world'))
  await sim.deliver(part(Buffer.from([1, 0]), 2, 1, 'long '))
  await sim.deliver({ bytes: Buffer.from('x'), ...sarPart(9, 3, 2) })
  await sim.deliver({ bytes: Buffer.from('whole'), ...sarPart(9, 1, 1) })
  await sim.deliver({ bytes: Buffer.from('whole'), ...sarPart(9, 2, 3) })
  storing.fails = true
  const refused = await sim.deliver(part(Buffer.from([7]), 2, 1, 'Hello '))

  const own = '4915100000001'
  assert.deepEqual(
    (told as InboundMessage[]).map(({ content, part: place }) => [content, place]),
    [
      [{ body: 'world' }, { reference: `${own} 7`, total: 2, number: 2 }],
      [{ body: 'long ' }, { reference: `${own} 256`, total: 2, number: 1 }],
      [{ body: 'x' }, { reference: `${own} 9`, total: 3, number: 2 }],
      [{ body: 'whole' }, undefined],
      [{ body: 'whole' }, undefined],
    ],
  )
  assert.equal(refused, 0x64)
})

test('a destination is the channel, another one for sure, or one of which nobody can tell', () => {
  const other = (identifier: string, destination: string, ton = 0) => otherAddressee(destination, ton, identifier)?.otherwise ?? 'ours for sure'
  const number = '+4915100000001'

  assert.deepEqual(
    ['4915100000001', '+4915100000001', '004915100000001', '', 'ACME', '015100000001', '15100000001', '4711', '12345'].map((to) => other(number, to)),
    ['ours for sure', 'ours for sure', 'ours for sure', 'ours for sure', 'ours for sure', 'ours', 'ours', 'ours', 'ours'],
  )
  assert.deepEqual(
    [other(number, '4915100000002'), other(number, '015100000002'), other(number, '4916000000001', 1), other(number, '4916000000001')],
    ['ignored', 'ignored', 'ignored', 'ours'],
  )
  // some countries are written with another digit before the number, or in the place of the country
  assert.deepEqual([other('+79161234567', '89161234567'), other('+525512345678', '5215512345678', 1)], ['ours', 'ours'])
  assert.deepEqual([other('12345', '54321'), other('12345', '4912345'), other('12345', '4915100000001', 1)], ['ignored', 'ours', 'ours'])
  assert.equal(other('ACME', '4915100000001', 1), 'ours')
  assert.deepEqual(otherAddressee('4915100000002', 1, number)?.identifiers, ['+4915100000002', '4915100000002'])
})

test('what cannot be stored is answered so that it comes again', async (t) => {
  const { sim, told, storing } = await linked(t)

  storing.fails = true
  const refused = await sim.deliver({ bytes: Buffer.from('Hi') })
  storing.fails = false
  const taken = await sim.deliver({ bytes: Buffer.from('Hi') })

  assert.deepEqual([refused, taken, told.length], [0x64, 0, 1])
})

test('what was answered just before the link died is told once when it comes again', async (t) => {
  const { sim, session, open, told } = await linked(t)

  await sim.deliver({ bytes: Buffer.from('Hi') })
  sim.cut()
  await session.ended
  await open()
  const statuses = [await sim.deliver({ bytes: Buffer.from('Hi') }), await sim.deliver({ bytes: Buffer.from('Hi') })]

  assert.deepEqual(statuses, [0, 0])
  assert.equal(told.length, 2)
})

test('a link that does not answer enquire_link ends', async (t) => {
  const { sim, session, clock } = await linked(t, { settings: { enquire_link_seconds: 10 } })

  await clock.advance(10_000)
  await until('the first question to be answered', () => sim.enquiries === 1)
  await until('the next one to be planned', () => clock.wakesAt().includes(clock.now() + 10_000))
  sim.answersEnquiries = false
  await clock.advance(10_000)
  await until('the second question', () => sim.enquiries === 2)
  await clock.advance(10_000)

  assert.match((await within('the end', session.ended)).message, /enquire_link/)
})

test('whatever an SMSC writes ends its session at most', async (t) => {
  const nonsense: [string, Buffer][] = [
    ['a length of four gigabytes', Buffer.from('ffffffff000000050000000000000001', 'hex')],
    ['a length of nothing', Buffer.from('00000000000000050000000000000001', 'hex')],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ]
  for (const [name, bytes] of nonsense) {
    const { sim, session } = await linked(t)
    sim.write(bytes)
    assert.equal((await within(name, session.ended)).refused, false)
  }
  const { sim, session, send, told } = await linked(t)
  // a deliver_sm cut short inside its frame, commands that nobody knows, answers to what was not asked, a half packet
  for (const bytes of [packet(0x05, 0, 1, Buffer.from([0, 1])), packet(0x7777, 0, 2), packet(0x80000004, 0, 99), packet(0x102, 0, 3), packet(0x01, 0, 4)])
    sim.write(bytes)
  const before = await send('Hi')
  sim.write(packet(0x05, 0, 5, Buffer.alloc(200)).subarray(0, 40))
  sim.cut()

  assert.equal(before.kind, 'accepted')
  await within('the end', session.ended)
  assert.deepEqual(told, [])
})

test('an account that binds each way by itself has two connections, and is unbound in order', async (t) => {
  const { sim, session, send, told } = await linked(t, { credentials: { bind_mode: 'transmitter_receiver' } })

  await send('Hi')
  await sim.deliver({ bytes: Buffer.from('Hi') })
  const bound = sim.bound()
  await session.close(never)

  assert.deepEqual(
    sim.binds.map(({ command }) => command),
    ['bind_transmitter', 'bind_receiver'],
  )
  assert.deepEqual([bound, told.length], [2, 1])
  await until('nothing to be bound', () => sim.bound() === 0)
})

test('an SMSC that speaks TLS is bound where its certificate is good, and out of reach where it is not', async (t) => {
  const sim = await smsc(t, { tls: { key: certificateKey, cert: certificate } })
  const bind = async (more: object) =>
    (await smpp.adapter(providerTools({ allowed_hosts: [sim.host], ...more })).connect!(connectionTo(sim, {}, { tls: true }), never)).kind

  assert.deepEqual([await bind({ ca: certificate }), await bind({})], ['connected', 'unavailable'])
})

test('an account that is bound elsewhere is out of reach, not refused', async (t) => {
  const sim = await smsc(t, { bindsMax: 0 })
  const adapter = smpp.adapter(providerTools({ allowed_hosts: [sim.host] }))

  assert.equal((await adapter.connect!(connectionTo(sim), never)).kind, 'unavailable')
})

test('a host that is not public is refused, unless it is allowed', () => {
  const looked = (host: string, port = 2775, allowed_hosts: string[] = []) =>
    smpp.check!({ type: 'sms', credentials: { host, port, system_id: 'a', password: 'b' }, allowed_hosts }).map(({ param }) => param)

  for (const host of [
    '127.0.0.1',
    '10.1.2.3',
    '::1',
    'localhost',
    'smsc.internal',
    'http://smpp.example.com',
    'a b',
    '2130706433',
    '[::1]',
    'smpp.example.com:2775',
  ])
    assert.deepEqual(looked(host), ['credentials.host'], host)
  for (const host of ['smpp.example.com', '8.8.8.8', '2600::1']) assert.deepEqual(looked(host), [], host)
  assert.deepEqual([looked('10.1.2.3', 2775, ['10.1.2.3:2775']), looked('10.1.2.3', 2776, ['10.1.2.3:2775'])], [[], ['credentials.host']])
})
