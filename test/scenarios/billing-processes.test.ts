/** Billing with two processes on one database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiClient } from '../support/api.ts'
import { startProcess } from '../support/process.ts'
import { startWorld, type World } from '../support/world.ts'

const price = 7500

test('two processes and three accounts accept exactly what each account can pay for', async (t) => {
  const world = await startWorld(t)
  const second = await startProcess(t, world, 'second')
  const addresses = [world.base_url, second.base_url]
  const shops = await Promise.all([30, 55, 80].map((affordable, at) => openShop(world, affordable, at)))

  const rounds = Array.from({ length: 100 }, (_, at) =>
    shops.map(async ({ account, channel, id }) => {
      const answer = await apiClient(addresses[at % 2]!, account.key).post('/v1/messages', {
        channel,
        to: '+19995550006',
        type: 'text',
        text: { body: 'Hi' },
      })
      return { id, status: answer.status }
    }),
  )
  const answers = await Promise.all(rounds.flat())

  for (const { id, affordable, account } of shops) {
    const own = answers.filter((answer) => answer.id === id)
    assert.deepEqual(
      [202, 402].map((status) => own.filter((answer) => answer.status === status).length),
      [affordable, 100 - affordable],
    )
    const { body } = await account.api.get('/v1/balance')
    assert.deepEqual([body.wallet_micros, body.credits_remaining], [0, 0])
  }
  await world.invariants()
})

test('balances of transactions follow from each other, whichever process posted them', async (t) => {
  const world = await startWorld(t)
  const second = await startProcess(t, world, 'second')
  const addresses = [world.base_url, second.base_url]
  const { account, channel } = await openShop(world, 60, 0)

  const sends = Array.from({ length: 60 }, (_, at) =>
    apiClient(addresses[at % 2]!, account.key).post('/v1/messages', {
      channel,
      to: `+1999555000${at % 4 < 2 ? 1 : 6}`,
      type: 'text',
      text: { body: 'Hi' },
    }),
  )
  await Promise.all(sends)
  await world.settle()

  const newestFirst = await statementOf(account)
  const { body: balance } = await account.api.get('/v1/balance')
  assert.equal(newestFirst[0]!.balance_after_micros, balance.wallet_micros)
  let held = 0
  for (const line of newestFirst.toReversed()) {
    held += line.amount_micros
    assert.equal(line.balance_after_micros, held, `after ${line.id}`)
  }
  await world.invariants()
})

interface Line {
  readonly id: string
  readonly amount_micros: number
  readonly balance_after_micros: number
}

async function statementOf({ api }: Awaited<ReturnType<World['account']>>): Promise<Line[]> {
  const lines: Line[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await api.get(
      `/v1/balance_transactions?limit=50${cursor === '' ? '' : `&starting_after=${cursor}`}`,
    )
    lines.push(...(body.data as Line[]))
    cursor = body.next_cursor as string | null
  }
  return lines
}

async function openShop(world: World, affordable: number, at: number) {
  const account = await world.account({ mode: 'live', credit_micros: (affordable - 10) * price })
  await world.services.billing.grantPackage(world.pool, {
    account_id: account.id,
    credits: 10,
    channel_types: ['sms'],
    expires_at: null,
    name: 'Ten',
  })
  const creation = { type: 'sms', provider: 'simulator', name: 'Shop', identifier: `+1555010${at}`, credentials: {} }
  const { body } = await account.api.post('/v1/channels', creation)
  return { id: account.id, account, affordable, channel: body.id as string }
}
