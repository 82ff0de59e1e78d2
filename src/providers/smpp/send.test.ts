import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packet, type Smsc } from '../../../test/support/simulators/smsc.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { fenced } from '../../lib/fence.ts'
import { bodyOf, linked, never } from '../../../test/support/smpp-session.ts'

test('a short text is one PDU with sender, recipient, alphabet and receipt request', async (t) => {
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

test('a long text is sent in parts joined by a header, and as UCS-2 if the alphabet requires it', async (t) => {
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
  // the euro sign has two septets and is not split
  assert.deepEqual([bodyOf(first).length, bodyOf(second).subarray(0, 2).toString('hex')], [152, '1b65'])
  assert.deepEqual([third.data_coding, bodyOf(third).length, bodyOf(fourth).length], [8, 132, 28])
})

test('after the lease is lost no part is sent, and the parts before it are known', async (t) => {
  const { sim, send } = await linked(t, { settings: { window_size: 1 } })
  const state = { holds: true }
  sim.answer = () => {
    state.holds = false
    return 0
  }

  const outcome = await fenced(
    () => state.holds,
    () => send('a'.repeat(400)),
  )
  const none = await fenced(
    () => state.holds,
    () => send('Hi'),
  )

  assert.deepEqual([outcome.kind, none.kind, sim.submitted.length], ['unavailable', 'unavailable', 1])
  assert.deepEqual((outcome as { provider_ids?: unknown }).provider_ids, ['1'])
})

test('parts are joined by parameters, or split by the SMSC, if the operator wants that', async (t) => {
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

test("an operator's own alphabet is used where possible, otherwise UCS-2", async (t) => {
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

test('no more messages are open than the window allows', async (t) => {
  const { sim, send } = await linked(t, { settings: { window_size: 2 } })
  sim.answer = null
  const over = new AbortController()

  const three = ['1', '2', '3'].map((end) => send('Hi', { id: `msg_${end}` }, over.signal))
  await until('two messages', () => sim.submitted.length === 2)
  over.abort()

  assert.deepEqual((await Promise.all(three)).map(({ kind }) => kind).toSorted(), ['unavailable', 'unknown', 'unknown'])
  assert.equal(sim.submitted.length, 2)
})

test('a throttling SMSC gets no message for a second, then two, until it accepts one', async (t) => {
  const { sim, clock, send } = await linked(t)
  sim.answer = 0x58

  const waits: unknown[] = []
  for (let n = 0; n < 3; n++) {
    const outcome = await send('Hi')
    const again = await send('Hi')
    assert.ok(outcome.kind === 'throttled' && again.kind === 'throttled')
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

test('parts accepted before the link failed are not repeated', async (t) => {
  const { sim, session, open, send } = await linked(t)
  sim.answer = (_, nth) => (nth === 2 ? (setImmediate(sim.cut), null) : 0)
  const body = 'a'.repeat(400)

  const first = await send(body)
  await session.ended
  const already_accepted = first.kind === 'accepted' ? [] : (first.provider_ids ?? [])
  const second = await send(body, { already_accepted }, never, await open())

  assert.equal(first.kind, 'unknown')
  assert.deepEqual(second, { kind: 'accepted', provider_ids: ['1', '2', '3'] })
  // only part 2 is repeated, with the same reference
  assert.deepEqual(
    sim.submitted.map(({ bytes }) => bytes[5]),
    [1, 2, 2, 3],
  )
  assert.equal(new Set(sim.submitted.map(({ bytes }) => bytes[3])).size, 1)
})

async function sendUnanswered(sim: Smsc, send: Awaited<ReturnType<typeof linked>>['send']) {
  sim.answer = null
  const over = new AbortController()
  const sent = send('Hi', {}, over.signal)
  await until('the message', () => sim.submitted.length === 1)
  over.abort()
  return await sent
}

test('a message with a late response is not sent twice', async (t) => {
  const { sim, send, items } = await linked(t)
  assert.equal((await sendUnanswered(sim, send)).kind, 'unknown')

  sim.write(packet(0x80000004, 0, 2, Buffer.from('a1\0')))
  await until('the receipt to be reported', () => items.length === 1)
  const again = await send('Hi')

  assert.deepEqual(items, [
    { kind: 'delivery_receipt', provider_id: 'a1', message_id: 'msg_00000000000000000000000001', transition: 'accept' },
  ])
  assert.deepEqual(again, { kind: 'accepted', provider_ids: ['a1'] })
  assert.equal(sim.submitted.length, 1)
})

test('a message whose late response arrives while it waits for the window is not sent twice', async (t) => {
  const { sim, send } = await linked(t, { settings: { window_size: 1 } })
  assert.equal((await sendUnanswered(sim, send)).kind, 'unknown')
  const other = send('Hello', { id: 'msg_other' })
  await until('another one to have the only place', () => sim.submitted.length === 2)
  sim.answer = 0
  const again = send('Hi')

  sim.write(
    Buffer.concat([packet(0x80000004, 0, 2, Buffer.from('a1\0')), packet(0x80000004, 0, 3, Buffer.from('b1\0'))]),
  )

  assert.deepEqual(await within('both', Promise.all([again, other])), [
    { kind: 'accepted', provider_ids: ['a1'] },
    { kind: 'accepted', provider_ids: ['b1'] },
  ])
  assert.equal(sim.submitted.length, 2)
})

test('a message is certainly not sent if the link had already ended', async (t) => {
  const { sim, session, send } = await linked(t)

  sim.cut()
  const ended = await within('the end', session.ended)

  assert.equal(ended.refused, false)
  assert.equal((await send('Hi')).kind, 'unavailable')
})

test('an overlong id is replaced by a short one, and the message is sent', async (t) => {
  const { send } = await linked(t, { smsc: { id: (nth) => `${nth}${'y'.repeat(9300)}` } })

  const outcome = await send('x'.repeat(200))

  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome))
  assert.equal(new Set(outcome.provider_ids).size, 2)
  for (const id of outcome.provider_ids) assert.match(id, /^sha256:[0-9a-f]{64}$/)
})

test('a status configured as temporary is repeated, and others fail with advice', async (t) => {
  const { sim, send } = await linked(t, { settings: { retry_statuses: ['0x45', '0X0000040A', '0x0b'] } })

  const outcomes = []
  for (const status of [0x45, 0x40a, 0x0b, 0x40b, 0xff, 0x0a, 0x102]) {
    sim.answer = status
    outcomes.push(await send('Hi'))
  }

  assert.deepEqual(
    outcomes.map((outcome) => [outcome.kind, 'provider_code' in outcome ? outcome.provider_code : null]),
    [
      ['unavailable', 'ESME_RSUBMITFAIL'],
      ['unavailable', '0x0000040a'],
      ['unavailable', 'ESME_RINVDSTADR'],
      ['refused', '0x0000040b'],
      ['refused', 'ESME_RUNKNOWNERR'],
      ['refused', 'ESME_RINVSRCADR'],
      ['unavailable', 'ESME_RSERTYPUNAVAIL'],
    ],
  )
  assert.deepEqual(
    outcomes
      .map((outcome) => 'message' in outcome && /list 0x[0-9a-f]+ in `retry_statuses`/.exec(outcome.message)?.[0])
      .filter(Boolean),
    ['list 0x40b in `retry_statuses`', 'list 0xff in `retry_statuses`'],
  )
})

test('every known status has its documented outcome, and none counts as success', async (t) => {
  const { sim, send, clock } = await linked(t)
  const kinds: Record<string, number[]> = {}
  for (const status of [0x01, 0x08, 0x0a, 0x0b, 0x14, 0x45, 0x58, 0x64, 0x65, 0x66, 0x400, 0x4ff, 0xffffffff]) {
    sim.answer = status
    const { kind } = await send('Hi')
    ;(kinds[kind] ??= []).push(status)
    await clock.advance(60_000)
  }

  assert.deepEqual(kinds, {
    refused: [0x01, 0x0a, 0x0b, 0x45, 0x65, 0x66, 0x400, 0x4ff, 0xffffffff],
    unavailable: [0x08, 0x64],
    throttled: [0x14, 0x58],
  })
})

test('a message accepted without a readable id is sent and not repeated', async (t) => {
  const { sim, send } = await linked(t)
  const ends = [Buffer.from('\0'), Buffer.alloc(0), Buffer.from([0x61, 0, 0x04, 0x27, 0, 1])]
  const outcomes = []
  for (const [nth, body] of ends.entries()) {
    sim.answer = () => (sim.write(packet(0x80000004, 0, nth + 2, body)), null)
    outcomes.push(await send('Hi', { id: `msg_${nth}` }))
  }

  assert.deepEqual(
    outcomes,
    [0, 1, 2].map((nth) => ({ kind: 'accepted', provider_ids: [`unnamed:msg_${nth}:0`] })),
  )
  assert.equal(sim.submitted.length, 3)
})

test('responses count once, in any order, and unexpected ones are ignored', async (t) => {
  const { sim, send } = await linked(t)
  sim.answer = null
  const both = [send('one', { id: 'msg_1' }), send('two', { id: 'msg_2' })]
  await until('both messages', () => sim.submitted.length === 2)

  const answer = (sequence: number, id: string, status = 0) =>
    sim.write(packet(0x80000004, status, sequence, Buffer.from(`${id}\0`)))
  for (const [sequence, id] of [
    [77, 'c0'],
    [3, 'b1'],
    [3, 'b2'],
    [2, 'a1'],
    [2, 'a2'],
  ] as const)
    answer(sequence, id)
  answer(3, '', 0x0b)
  const outcomes = await Promise.all(both)
  sim.answer = 0
  const next = await send('three', { id: 'msg_3' })

  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.provider_ids : outcome)),
    [['a1'], ['b1']],
  )
  assert.deepEqual([next.kind, sim.submitted.length], ['accepted', 3])
})
