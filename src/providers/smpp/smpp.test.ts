import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { adapterSuite } from '../../../test/support/adapter-suite.ts'
import { certificate, certificateKey } from '../../../test/support/certificate.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { openingOf } from '../../../test/support/conformance/send-attempts.ts'
import { providerTools } from '../../../test/support/provider-tools.ts'
import { packet, smsc } from '../../../test/support/simulators/smsc.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { connectionTo, linked, never, to } from '../../../test/support/smpp-session.ts'
import type { DeliveryReceipt } from '../provider.ts'
import { smscConnection } from './connection.ts'
import { smpp } from './smpp.ts'

adapterSuite(smpp, async (t) => {
  const sim = await smsc(t, { bindsMax: 100 })
  let taken = 0
  sim.answer = () => {
    taken += 1
    return 0
  }
  return {
    tools: providerTools({ allowed_hosts: [sim.host] }),
    connection: connectionTo(sim),
    wrongConnection: connectionTo(sim, {}, { password: 'wrong' }),
    entered: { host: 'smpp.example.com', port: 2775, system_id: 'shop', password: 'secret' },
    outcomes: {
      accepted: { to },
      refused: {
        to,
        before: () => void (sim.answer = 0x0b),
        expected: { code: 'provider_error', provider_code: 'ESME_RINVDSTADR' },
      },
      throttled: [
        {
          to,
          before: () => void (sim.answer = 0x58),
          expected: { limit_on: 'channel', provider_code: 'ESME_RTHROTTLED', retry_after_ms: 1000 },
        },
        {
          to,
          before: () => void (sim.answer = 0x14),
          expected: { limit_on: 'channel', provider_code: 'ESME_RMSGQFUL' },
        },
      ],
      unavailable: { to, before: () => void (sim.answer = 0x08), expected: { provider_code: 'ESME_RSYSERR' } },
      unknown: { to, before: () => void (sim.answer = () => (setImmediate(sim.cut), null)) },
    },
    taken: () => sim.submitted.length,
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
    session: {
      connection: connectionTo(sim),
      say: (body) => sim.deliver({ source: '4915112345678', bytes: Buffer.from(body) }),
    },
    hostilePeer: (port) => ({
      tools: providerTools({ allowed_hosts: [`127.0.0.1:${port}`] }),
      connection: connectionTo({ port }),
    }),
  }
})

test('a failed bind leaves nothing running', async (t) => {
  const sim = await smsc(t)
  const clock = fakeClock()
  const adapter = smpp.adapter(providerTools({ clock, allowed_hosts: [sim.host] }))
  const connection = connectionTo(sim, {}, { password: 'wrong' })

  const opened = await adapter.openSession!(connection, openingOf())

  assert.equal(opened.kind, 'refused')
  assert.deepEqual(clock.wakesAt(), [])
})

test('a message that waits for the window or earlier parts is not sent after the lease is lost', async (t) => {
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

test('a link without responses to enquire_link ends', async (t) => {
  // not the ten seconds of the response timeout
  const { sim, session, clock } = await linked(t, { settings: { enquire_link_seconds: 15 } })

  await clock.advance(15_000)
  await until('the first question to be answered', () => sim.enquiries === 1)
  await until('the next one to be planned', () => clock.wakesAt().includes(clock.now() + 15_000))
  sim.answersEnquiries = false
  await clock.advance(15_000)
  await until('the second question', () => sim.enquiries === 2)
  await clock.advance(10_000)

  assert.match((await within('the end', session.ended)).message, /enquire_link/)
})

test('whatever an SMSC writes ends at most its session', async (t) => {
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
  const { sim, session, send, items } = await linked(t)
  // a truncated deliver_sm, unknown commands, an unrequested response, half a packet
  for (const bytes of [
    packet(0x05, 0, 1, Buffer.from([0, 1])),
    packet(0x7777, 0, 2),
    packet(0x80000004, 0, 99),
    packet(0x102, 0, 3),
    packet(0x01, 0, 4),
  ])
    sim.write(bytes)
  const before = await send('Hi')
  sim.write(packet(0x05, 0, 5, Buffer.alloc(200)).subarray(0, 40))
  sim.cut()

  assert.equal(before.kind, 'accepted')
  await within('the end', session.ended)
  assert.deepEqual(items, [])
})

test('an account with separate binds has two connections, and is unbound in order', async (t) => {
  const { sim, session, send, items } = await linked(t, { credentials: { bind_mode: 'transmitter_receiver' } })

  await send('Hi')
  await sim.deliver({ bytes: Buffer.from('Hi') })
  const bound = sim.bound()
  await session.close(never)

  assert.deepEqual(
    sim.binds.map(({ command }) => command),
    ['bind_transmitter', 'bind_receiver'],
  )
  assert.deepEqual([bound, items.length], [2, 1])
  await until('nothing to be bound', () => sim.bound() === 0)
})

test('an SMSC with TLS needs a valid certificate, and is otherwise unavailable', async (t) => {
  const sim = await smsc(t, { tls: { key: certificateKey, cert: certificate } })
  const bind = async (more: object) =>
    (
      await smpp.adapter(providerTools({ allowed_hosts: [sim.host], ...more })).connect!(
        connectionTo(sim, {}, { tls: true }),
        never,
      )
    ).kind

  assert.deepEqual([await bind({ ca: certificate }), await bind({})], ['connected', 'unavailable'])
})

test('an account that is bound elsewhere is unavailable, not refused', async (t) => {
  const sim = await smsc(t, { bindsMax: 0 })
  const adapter = smpp.adapter(providerTools({ allowed_hosts: [sim.host] }))

  assert.equal((await adapter.connect!(connectionTo(sim), never)).kind, 'unavailable')
})

test('a private host is refused unless it is allowed', () => {
  const looked = (host: string, port = 2775, allowed_hosts: string[] = []) =>
    smpp.check!({ type: 'sms', credentials: { host, port, system_id: 'a', password: 'b' }, allowed_hosts }).map(
      ({ param }) => param,
    )

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
  assert.deepEqual(
    [looked('10.1.2.3', 2775, ['10.1.2.3:2775']), looked('10.1.2.3', 2776, ['10.1.2.3:2775'])],
    [[], ['credentials.host']],
  )
})

test('after an unbind of the SMSC nothing is sent, and its last responses still count', async (t) => {
  const { sim, session, clock, send } = await linked(t)
  sim.answer = null
  const three = ['1', '2', '3'].map((end) => send('Hi', { id: `msg_${end}` }))
  await until('three messages', () => sim.submitted.length === 3)

  const answer = (sequence: number) => packet(0x80000004, 0, sequence, Buffer.from(`a${sequence}\0`))
  sim.write(Buffer.concat([answer(2), packet(0x06, 0, 9), answer(3)]))
  await Promise.all(three.slice(0, 2))
  const behind = await send('Hi', { id: 'msg_4' })
  await clock.advance(2000)
  await within('the end', session.ended)

  const outcomes = await Promise.all(three)
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['accepted', 'accepted', 'unknown'],
  )
  assert.deepEqual([behind.kind, sim.submitted.length], ['unavailable', 3])
  await until('the goodbye to be answered', () => sim.goodbyes === 1)
})

test('an SMSC that sends requests without reading responses ends its session', async () => {
  const unread = { bytes: 0 }
  const socket = Object.assign(new Duplex({ read: () => undefined, write: () => undefined }), {
    setNoDelay: () => undefined,
  })
  Object.defineProperty(socket, 'writableLength', { get: () => unread.bytes })
  const one = smscConnection({
    clock: fakeClock(),
    socket: socket as unknown as Socket,
    enquire_every_ms: 600_000,
    onRequest: () => undefined,
  })

  for (let nth = 1; nth <= 20; nth++) {
    unread.bytes += 1_000_000
    socket.push(packet(0x15, 0, nth))
  }

  assert.match(await within('the end', one.ended), /does not read/)
})

test("a channel's memory ends when the process loses its session", async (t) => {
  const { sim, send, items, open } = await linked(t, { smsc: { id: () => '161' } })
  await send('Hi')
  const receipts = async () => {
    await sim.receipt(sim.submitted[0]!, 'DELIVRD')
    return (items.at(-1) as DeliveryReceipt).also_known_as
  }

  const held = await receipts()
  sim.cut()
  await open()
  const again = await receipts()
  sim.cut()
  await open({ anew: true })
  const anew = await receipts()

  assert.deepEqual([held, again, anew], [undefined, undefined, ['a1', '353']])
})
