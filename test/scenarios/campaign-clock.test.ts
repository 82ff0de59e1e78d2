/** A clock that is set during a campaign. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startWorld, type World } from '../support/world.ts'

async function pass(world: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    for (const worker of ['heartbeat', 'campaign-snapshots', 'campaigns', 'dispatch', 'callbacks', 'project-campaigns'])
      await world.app.worker(worker).tick()
    await world.clock.advance(100)
  }
}

for (const [way, ms] of [
  ['back by an hour', -3_600_000],
  ['ahead by an hour', 3_600_000],
] as const)
  test(`a campaign continues at its rate when the clock is set ${way}`, async (t) => {
    const world = await startWorld(t)
    const { api } = await world.account()
    const recipients = Array.from({ length: 60 }, (_, n) => ({ to: `+49151555001${10 + n}` }))
    const body = {
      name: 'Spring',
      channel: 'ch_test_sms',
      audience: { type: 'adhoc', recipients },
      message: { type: 'text', text: { body: 'Hello' } },
    }
    const { id } = (
      await api.post('/v1/campaigns', { ...body, throttle_per_second: 10, launch: true, consent_declared: true })
    ).body
    const sent = async () => (await api.get(`/v1/campaigns/${id}`)).body.counters.sent as number
    await pass(world, 2000)
    const before = await sent()

    world.clock.jump(ms)
    await pass(world, 2000)
    const after = await sent()
    await pass(world, 4000)

    assert.ok(before > 10 && after - before >= 15 && after - before <= 26, `${before}, then ${after}`)
    const campaign = (await api.get(`/v1/campaigns/${id}`)).body
    assert.deepEqual([campaign.status, campaign.counters.sent], ['completed', 60])
    await world.invariants()
  })
