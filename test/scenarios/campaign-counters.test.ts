/** Counters of a campaign are exact, folded or not. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { holdOpen } from '../support/open-transactions.ts'
import { startWorld, type World } from '../support/world.ts'

const campaign = {
  channel: 'ch_test_sms',
  message: { type: 'text', text: { body: 'Hello' } },
  audience: {
    type: 'adhoc',
    recipients: ['+15005550010', '+15005550006', '+15005550002', '+15005550001'].map((to) => ({ to })),
  },
  consent_declared: true,
  launch: true,
}

async function sendAll(world: World): Promise<void> {
  for (let turn = 0; turn < 30; turn++) {
    await world.tick('campaign-snapshots', 'campaigns', 'dispatch', 'callbacks')
    await world.clock.advance(200)
  }
}

const rowsOf = async (world: World): Promise<number> =>
  (await world.pool<{ rows: number }[]>`select count(*) as rows from campaign_counters`)[0]!.rows

test('counters are the same before, during and after folding, in any order', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const { id } = (await api.post('/v1/campaigns', { ...campaign, name: 'C' })).body
  const counters = async () => (await api.get(`/v1/campaigns/${id}`)).body.counters
  await sendAll(world)

  const unfolded = await counters()
  // another process locks the earlier transitions
  const seen = await holdOpen(world.pool, async (tx) => {
    await tx`select from message_transitions where status in ('sent', 'delivered') for update`
    await world.tick('project-campaigns')
    return await counters()
  })
  await world.tick('project-campaigns')

  assert.deepEqual(unfolded, {
    total: 4,
    queued: 0,
    sent: 2,
    delivered: 2,
    read: 1,
    failed: 2,
    skipped: 0,
    cancelled: 0,
    skip_reasons: {},
  })
  assert.deepEqual([seen, await counters()], [unfolded, unfolded])
  await world.invariants()
})

test('folding leaves one row for each status and changes no visible counter', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const ids: string[] = []
  for (const name of ['A', 'B']) ids.push((await api.post('/v1/campaigns', { ...campaign, name })).body.id)
  await sendAll(world)
  await world.tick('project-campaigns')
  const shown = async () => (await api.get('/v1/campaigns')).body.data
  const [before, rows] = [await shown(), await rowsOf(world)]

  await world.periodicJobs()

  assert.deepEqual(await shown(), before)
  // delivered, read and failed of each
  assert.deepEqual([rows > 6, await rowsOf(world)], [true, 6])
  await world.periodicJobs()
  assert.equal(await rowsOf(world), 6)
})
