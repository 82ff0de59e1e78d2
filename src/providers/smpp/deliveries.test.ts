import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageBody, packet, type Smsc } from '../../../test/support/simulators/smsc.ts'
import { until } from '../../../test/support/waiting.ts'
import { linked, to } from '../../../test/support/smpp-session.ts'
import type { InboundMessage, DeliveryReceipt, CallbackItem } from '../provider.ts'
import { otherDestination } from './inbound.ts'

test('receipts are read from text and parameters, in every notation of the id', async (t) => {
  const { sim, send, items } = await linked(t, { smsc: { id: (n) => (0xabc0 + n).toString(16).toUpperCase() } })
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

  assert.deepEqual(items, [
    {
      kind: 'delivery_receipt',
      provider_id: '43969',
      also_known_as: ['abc1', '276841'],
      addresses: { from: '4915112345678', to: '4915100000001' },
      transition: 'deliver',
    },
    {
      kind: 'delivery_receipt',
      provider_id: 'abc2',
      transition: 'fail',
      error: {
        code: 'provider_error',
        message: 'The message cannot be delivered (UNDELIV).',
        provider_code: 'UNDELIV:000',
      },
    },
    {
      kind: 'delivery_receipt',
      provider_id: 'abc1',
      transition: 'fail',
      error: {
        code: 'provider_error',
        message: 'The operator rejected the message (REJECTD).',
        provider_code: 'UNDELIV:027',
      },
    },
  ])
})

test('five receipt states fail a message with one code, and the sentence names the state', async (t) => {
  const { sim, items, ignored } = await linked(t)
  const message = { id: 'a1', destination: to } as Smsc['submitted'][number]

  for (const stat of [
    'EXPIRED',
    'DELETED',
    'UNDELIV',
    'REJECTD',
    'SKIPPED',
    'ENROUTE',
    'ACCEPTD',
    'BUFFERED',
    'DELIVRD',
    'UNKNOWN',
    'SOMETHING',
  ])
    await sim.receipt(message, stat)
  for (const state of [0, 1, 2, 3, 6, 7, 9, 99])
    await sim.deliver({
      esm_class: 0x04,
      tlvs: [
        [0x001e, Buffer.from('b1\0')],
        [0x0427, Buffer.from([state])],
      ],
    })

  const failed = (items as DeliveryReceipt[]).filter(({ transition }) => transition === 'fail')
  assert.deepEqual(
    (items as DeliveryReceipt[]).map(({ transition }) => transition),
    [
      'fail',
      'fail',
      'fail',
      'fail',
      'fail',
      'accept',
      'accept',
      'accept',
      'deliver',
      'accept',
      'accept',
      'deliver',
      'fail',
      'accept',
      'fail',
    ],
  )
  assert.deepEqual(
    failed.map(({ error }) => [error!.code, error!.provider_code, /\(([A-Z]+)\)/.exec(error!.message)?.[1]]),
    [
      ...['EXPIRED', 'DELETED', 'UNDELIV', 'REJECTD', 'SKIPPED'].map((state) => [
        'provider_error',
        'UNDELIV:000',
        state,
      ]),
      ...['EXPIRED', 'SKIPPED'].map((state) => ['provider_error', 'UNDELIV', state]),
    ],
  )
  assert.deepEqual([ignored.length, new Set(ignored).size], [4, 1])
})

test('a receipt finds its message by an id of up to 255 ASCII characters, with zeros or spaces around it', async (t) => {
  const ids = ['f'.repeat(32), 'x'.repeat(200), `${'0'.repeat(190)}7b`, 'a_b$c@d', '9'.repeat(30)]
  const { sim, send, items, ignored } = await linked(t, { smsc: { id: (n) => ids[n - 1]! } })
  for (const _ of ids) await send('Hi')
  const [hex, long, , odd, decimal] = sim.submitted as [Smsc['submitted'][number], ...Smsc['submitted'][number][]]
  const message = { destination: to } as Smsc['submitted'][number]

  await sim.receipt(message, 'DELIVRD', BigInt(`0x${hex.id}`).toString(10).padStart(100, '0'))
  await sim.receipt(message, 'DELIVRD', `  ${long!.id}  `)
  await sim.receipt(message, 'DELIVRD', `${'0'.repeat(150)}7b`)
  await sim.receipt(message, 'DELIVRD', odd!.id)
  await sim.deliver({
    esm_class: 0x04,
    tlvs: [
      [0x001e, Buffer.from(`${'0'.repeat(100)}${decimal!.id} \0`)],
      [0x0427, Buffer.from([2])],
    ],
  })
  await sim.receipt(message, 'DELIVRD', 'x'.repeat(256))
  await sim.receipt(message, 'DELIVRD', '')

  assert.deepEqual(
    (items as DeliveryReceipt[]).map(({ provider_id, also_known_as }) => [provider_id, also_known_as]),
    [
      [BigInt(`0x${hex.id}`).toString(10), [hex.id]],
      ...['x'.repeat(200), '7b', 'a_b$c@d', '9'.repeat(30)].map((id) => [id, undefined]),
    ],
  )
  assert.deepEqual(ignored, ['a delivery receipt without a message id', 'a delivery receipt without a message id'])
})

test('a receipt in parts or in UCS-2 is read', async (t) => {
  const { sim, items } = await linked(t)
  const text = 'id:abc sub:001 dlvrd:001 stat:DELIVRD err:000 text:'

  await sim.deliver({ esm_class: 0x44, bytes: Buffer.concat([Buffer.from([5, 0, 3, 9, 2, 1]), Buffer.from(text)]) })
  await sim.deliver({ esm_class: 0x04, data_coding: 8, bytes: Buffer.from(text, 'utf16le').swap16() })

  assert.deepEqual(
    (items as DeliveryReceipt[]).map(({ provider_id }) => provider_id),
    ['abc', 'abc'],
  )
})

test('a receipt in the same packet as the response matches its message, whatever else its id may mean', async (t) => {
  const { sim, send, items } = await linked(t)
  const answered = Buffer.from('00000161\0')
  const receipt = Buffer.from(
    'id:00000161 sub:001 dlvrd:001 submit date:2601310930 done date:2601310931 stat:DELIVRD err:000 Text:Hi',
  )
  sim.answer = () => {
    // sequence number 1 was the bind
    sim.write(
      Buffer.concat([
        packet(0x80000004, 0, 2, answered),
        packet(0x05, 0, 1, messageBody({ esm_class: 0x04, bytes: receipt })),
      ]),
    )
    return null
  }

  const outcome = await send('Hi')
  await until('the receipt', () => items.length === 1)

  assert.deepEqual(outcome, { kind: 'accepted', provider_ids: ['161'] })
  assert.deepEqual(items, [{ kind: 'delivery_receipt', provider_id: '161', transition: 'deliver' }])
})

test("a receipt of another process's message does not match a remembered one with the same number in hex or decimal", async (t) => {
  const { sim, send, items } = await linked(t, { smsc: { id: (n) => ['353', 'a1'][n - 1]! } })
  await send('Hi')
  await send('Hi')

  await sim.receipt({ id: '161', destination: to } as Smsc['submitted'][number], 'DELIVRD')

  const addresses = { from: to, to: '4915100000001' }
  assert.deepEqual(items, [
    { kind: 'delivery_receipt', provider_id: '161', also_known_as: ['a1', '353'], addresses, transition: 'deliver' },
  ])
})

test('a receipt of an unknown message names all possible ids', async (t) => {
  const auto = await linked(t)
  const decimal = await linked(t, { settings: { receipt_ids: 'decimal' } })
  const text = Buffer.from(
    'id:0000000255 sub:001 dlvrd:001 submit date:2601310930 done date:2601310931 stat:DELIVRD err:000 Text:Hi',
  )

  for (const { sim } of [auto, decimal]) await sim.deliver({ esm_class: 0x04, bytes: text })

  assert.deepEqual(
    (auto.items as DeliveryReceipt[]).map(({ provider_id, also_known_as }) => [provider_id, also_known_as]),
    [['255', ['ff', '597']]],
  )
  assert.deepEqual(
    (decimal.items as DeliveryReceipt[]).map(({ provider_id, also_known_as }) => [provider_id, also_known_as]),
    [['ff', ['255']]],
  )
})

const inboundOf = (items: readonly CallbackItem[]) =>
  (items as InboundMessage[]).map(({ from, type, content }) => [from, type, content])

test('inbound texts are read in every alphabet', async (t) => {
  const { sim, items } = await linked(t)

  await sim.deliver({ bytes: Buffer.from('48692000201b65', 'hex') })
  await sim.deliver({ bytes: Buffer.from('0048d83dde00', 'hex'), data_coding: 8 })
  await sim.deliver({ bytes: Buffer.from('Grüße', 'latin1'), data_coding: 3 })
  await sim.deliver({ tlvs: [[0x0424, Buffer.from('a long one')]], source: '4915112345678', source_ton: 0 })
  await sim.deliver({ bytes: Buffer.from([1, 2]), data_coding: 4, source: '4711', source_ton: 0 })

  assert.deepEqual(inboundOf(items), [
    [to, 'text', { body: 'Hi @ €' }],
    [to, 'text', { body: 'H😀' }],
    [to, 'text', { body: 'Grüße' }],
    [to, 'text', { body: 'a long one' }],
    ['4711', 'unsupported', { provider_type: 'binary' }],
  ])
  assert.equal(new Set(items.map(({ provider_id }) => provider_id)).size, 5)
})

test('a truncated PDU or one with a wrong length is refused, and its content ignored', async (t) => {
  const { sim, items, raw, ignored } = await linked(t)
  const whole = messageBody({ bytes: Buffer.from('Hello there') })
  const at = whole.length - 12
  const lengthOf = (length: number) =>
    Buffer.concat([whole.subarray(0, at), Buffer.from([length]), whole.subarray(at + 1)])
  const payload = messageBody({ tlvs: [[0x0424, Buffer.from('a long one')]] })

  const statuses = [
    await sim.deliverBody(Buffer.alloc(0)),
    await sim.deliverBody(whole.subarray(0, 10)),
    await sim.deliverBody(whole.subarray(0, at)),
    await sim.deliverBody(whole.subarray(0, at + 1)),
    await sim.deliverBody(whole.subarray(0, -4)),
    await sim.deliverBody(lengthOf(200)),
    await sim.deliverBody(lengthOf(5)),
    await sim.deliverBody(payload.subarray(0, -3)),
    await sim.deliverBody(Buffer.concat([whole, Buffer.from([1])])),
  ]
  const good = [await sim.deliverBody(Buffer.concat([whole, Buffer.from([0])])), await sim.deliverBody(payload)]

  assert.deepEqual(statuses, [0x02, 0x02, 0x02, 0x01, 0x01, 0x01, 0xc0, 0xc0, 0xc0])
  assert.deepEqual(good, [0, 0])
  assert.deepEqual(
    inboundOf(items).map(([, , content]) => content),
    [{ body: 'Hello there' }, { body: 'a long one' }],
  )
  assert.deepEqual([raw.length, ignored.length], [11, 9])
})

test('a message without a text is acknowledged and logged, and a part may be empty', async (t) => {
  const { sim, items, ignored } = await linked(t)

  const empty = await sim.deliver({ bytes: Buffer.alloc(0) })
  const nobody = await sim.deliver({ source: '', bytes: Buffer.from('Hi') })
  const partly = await sim.deliver({ bytes: Buffer.alloc(0), ...sarPart(9, 2, 2) })

  assert.deepEqual([empty, nobody, partly], [0, 0, 0])
  assert.deepEqual(
    (items as InboundMessage[]).map(({ content }) => content),
    [{ body: '' }],
  )
  assert.deepEqual(ignored, ['a message without a text', 'a message without a sender'])
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

test('inbound parts are reported as parts, each stored before its response', async (t) => {
  const { sim, items, storing } = await linked(t)

  await sim.deliver(part(Buffer.from([7]), 2, 2, 'world'))
  await sim.deliver(part(Buffer.from([1, 0]), 2, 1, 'long '))
  await sim.deliver({ bytes: Buffer.from('x'), ...sarPart(9, 3, 2) })
  await sim.deliver({ bytes: Buffer.from('whole'), ...sarPart(9, 1, 1) })
  await sim.deliver({ bytes: Buffer.from('whole'), ...sarPart(9, 2, 3) })
  storing.fails = true
  const refused = await sim.deliver(part(Buffer.from([7]), 2, 1, 'Hello '))

  const own = '4915100000001'
  assert.deepEqual(
    (items as InboundMessage[]).map(({ content, part: place }) => [content, place]),
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

test('a destination is the channel, certainly another one, or uncertain', () => {
  const other = (identifier: string, destination: string, ton = 0) =>
    otherDestination(destination, ton, identifier)?.otherwise ?? 'ours for sure'
  const number = '+4915100000001'

  assert.deepEqual(
    [
      '4915100000001',
      '+4915100000001',
      '004915100000001',
      '',
      'ACME',
      '015100000001',
      '15100000001',
      '4711',
      '12345',
    ].map((to) => other(number, to)),
    [
      'ours for sure',
      'ours for sure',
      'ours for sure',
      'ours for sure',
      'ours for sure',
      'ours',
      'ours',
      'ours',
      'ours',
    ],
  )
  assert.deepEqual(
    [
      other(number, '4915100000002'),
      other(number, '015100000002'),
      other(number, '4916000000001', 1),
      other(number, '4916000000001'),
    ],
    ['ignored', 'ignored', 'ignored', 'ours'],
  )
  // some countries have other prefixes within the country
  assert.deepEqual([other('+79161234567', '89161234567'), other('+525512345678', '5215512345678', 1)], ['ours', 'ours'])
  assert.deepEqual(
    [other('12345', '54321'), other('12345', '4912345'), other('12345', '4915100000001', 1)],
    ['ignored', 'ours', 'ours'],
  )
  assert.equal(other('ACME', '4915100000001', 1), 'ours')
  assert.deepEqual(otherDestination('4915100000002', 1, number)?.identifiers, ['+4915100000002', '4915100000002'])
})

test('a PDU that cannot be stored gets a temporary error', async (t) => {
  const { sim, items, storing } = await linked(t)

  storing.fails = true
  const refused = await sim.deliver({ bytes: Buffer.from('Hi') })
  storing.fails = false
  const taken = await sim.deliver({ bytes: Buffer.from('Hi') })

  assert.deepEqual([refused, taken, items.length], [0x64, 0, 1])
})

test('a PDU acknowledged just before the link failed is reported once when it is repeated', async (t) => {
  const { sim, session, open, items } = await linked(t)

  await sim.deliver({ bytes: Buffer.from('Hi') })
  sim.cut()
  await session.ended
  await open()
  const statuses = [await sim.deliver({ bytes: Buffer.from('Hi') }), await sim.deliver({ bytes: Buffer.from('Hi') })]

  assert.deepEqual(statuses, [0, 0])
  assert.equal(items.length, 2)
})
