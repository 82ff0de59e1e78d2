/** Inbound texts in parts, and messages to other senders of the same provider account. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startProcess } from '../support/process.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'
import { startWorld } from '../support/world.ts'

const person = '+4915112345678'
const identifier = '+4915100000001'

async function receiving(t: TestContext) {
  const { provider } = scriptedProvider()
  const world = await startWorld(t, { providers: [provider] })
  const { api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const connect = async (by: typeof api, name: string) =>
    (
      await by.post('/v1/channels', {
        type: 'sms',
        provider: 'scripted',
        name: 'Alerts',
        identifier: name,
        credentials: {},
      })
    ).body.id as string
  const channel = await connect(api, identifier)
  let reported = 0
  const text = (body: string, more: object = {}) => ({
    kind: 'inbound',
    provider_id: `in-${(reported += 1)}`,
    from: person,
    profile_name: null,
    type: 'text',
    content: { body },
    reply_to: null,
    ...more,
  })
  const part = (
    number: number,
    body: string,
    { reference = '7', total = 2, ...more }: { reference?: string; total?: number; provider_id?: string } = {},
  ) => text(body, { part: { reference, total, number }, ...more })
  const callBack = async (...reports: object[]) =>
    assert.equal((await world.api().post(`/hooks/channels/${channel}`, { reports })).status, 200)
  const received = async (by = api) =>
    (await by.get('/v1/messages?direction=inbound')).body.data
      .map(({ content }: { content: { text: { body: string } } }) => content.text.body)
      .toReversed()
  const pass = async (ms: number) => {
    await world.clock.advance(ms)
    await world.settle('callbacks', 'inbound-parts')
  }
  return { world, api, connect, channel, text, part, callBack, received, pass }
}

test('parts are joined in any order and across callbacks and processes', async (t) => {
  const { world, part, callBack, received } = await receiving(t)
  const other = await startProcess(t, world, 'other')

  await callBack(part(3, 'c', { total: 3 }))
  await other.tickWhileTimePasses('callbacks')
  await other.kill()
  await callBack(part(1, 'a', { total: 3 }))
  await world.settle('callbacks')
  const before = await received()
  await callBack(
    part(2, 'b', { total: 3 }),
    part(1, 'Hello ', { reference: '8' }),
    part(2, 'world', { reference: '8' }),
  )
  await world.settle('callbacks')

  assert.deepEqual([before, await received()], [[], ['abc', 'Hello world']])
  await world.invariants()
})

test('a text with a missing part is stored after five minutes, with a gap', async (t) => {
  const { world, api, part, callBack, received, pass } = await receiving(t)

  await callBack(part(2, 'world', { total: 3 }))
  await world.settle('callbacks')
  await pass(299_000)
  const before = await received()
  await pass(1000)
  await pass(300_000)

  assert.deepEqual([before, await received()], [[], ['…world…']])
  const { length } = (await api.get('/v1/events?type=message.received')).body.data
  const [{ left }] = (await world.pool`select count(*)::int as left from inbound_parts`) as unknown as [
    { left: number },
  ]
  assert.deepEqual([length, left], [1, 0])
})

test('a repeated part changes nothing, before and after the text is complete', async (t) => {
  const { world, part, callBack, received, pass } = await receiving(t)
  const first = part(1, 'Hello ')

  await callBack(first, { ...first, provider_id: 'in-again' })
  await world.settle('callbacks')
  await callBack(part(2, 'world'))
  await world.settle('callbacks')
  await callBack(first, part(2, 'world'))
  await world.settle('callbacks')
  await pass(300_000)
  await pass(300_000)

  assert.deepEqual(await received(), ['Hello world'])
})

test('a reused reference starts another text, and the earlier one is stored incomplete', async (t) => {
  const { world, part, callBack, received, pass } = await receiving(t)

  await callBack(part(1, 'one '), part(2, 'whole'), part(1, 'then '), part(1, 'cut '))
  await world.settle('callbacks')
  const soon = await received()
  await callBack(part(2, 'off'))
  await world.settle('callbacks')
  await pass(900_000)

  assert.deepEqual(soon.toSorted(), ['one whole', 'then …'])
  assert.deepEqual((await received()).toSorted(), ['cut off', 'one whole', 'then …'])
})

test('STOP counts when its last part has arrived, and parts of a deleted channel are dropped', async (t) => {
  const { world, api, channel, part, callBack, received, pass } = await receiving(t)

  await callBack(part(1, 'ST'), part(2, 'OP'), part(1, 'left', { reference: '9' }))
  await world.settle('callbacks')
  const refused = await api.post('/v1/messages', { channel, to: person, type: 'text', text: { body: 'Hi' } })
  await api.delete(`/v1/channels/${channel}`)
  await pass(300_000)

  assert.deepEqual([refused.body.error.code, await received()], ['recipient_blocked', ['STOP']])
})

test('a message to another sender goes to the channel of the account with that name, if there is one', async (t) => {
  const { world, api, connect, channel, text, callBack, received } = await receiving(t)
  const stranger = await world.account({ mode: 'live' })
  const sibling = await connect(api, '+4915100000002')
  await connect(stranger.api, '+4915100000003')
  const to = (name: string, otherwise: string) => ({ to: { identifiers: [name, name.slice(1)], otherwise } })

  await callBack(
    text('to the sibling', to('+4915100000002', 'ignored')),
    text('in doubt to the sibling', to('+4915100000002', 'ours')),
    text('to the stranger', to('+4915100000003', 'ignored')),
    text('in doubt', to('+4915100000004', 'ours')),
  )
  await world.settle('callbacks')

  const [mine, theirs] = await Promise.all(
    [channel, sibling].map(async (id) => (await api.get(`/v1/messages?direction=inbound&channel=${id}`)).body.data),
  )
  const bodies = (all: readonly { content: { text: { body: string } } }[]) =>
    all.map(({ content }) => content.text.body).toSorted()
  assert.deepEqual(
    [bodies(mine), bodies(theirs), await received(stranger.api)],
    [['in doubt'], ['in doubt to the sibling', 'to the sibling'], []],
  )
  assert.deepEqual([...new Set(theirs.map((message: { to: string }) => message.to))], ['+4915100000002'])
})
