/** Metrics of reported events and late runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { automationOf, sourceOf } from '../support/automations.ts'
import { startWorld } from '../support/world.ts'

test('metrics count reported events by result, and show how long the first due run has waited', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  const source = await sourceOf(account)
  await automationOf(account, source, { delay_seconds: 60 })
  const report = async (event_id: string, type: string, more: object = {}) =>
    await account.api.post('/v1/automation_events', {
      source,
      type,
      event_id,
      customer: { phone: '+4915112345678' },
      ...more,
    })
  const { automation_events, automation_runs_overdue_seconds } = world.platform.metrics
  const overdue = async () => {
    await world.periodicJobs()
    return (await automation_runs_overdue_seconds.get()).values[0]!.value
  }

  assert.equal(await overdue(), 0)
  await report('1', 'order.paid')
  await report('1', 'order.paid')
  await report('2', 'order.shipped')
  await report('3', 'order.paid', { customer: {} })
  const unknown = await report('4', 'order.paid', { source: world.platform.ids('src') })
  const counted = new Map((await automation_events.get()).values.map(({ labels, value }) => [labels['outcome'], value]))
  const early = await overdue()
  await world.clock.advance(90_000)
  const late = await overdue()
  await world.tick('automation-runs')

  assert.equal(unknown.status, 404)
  assert.deepEqual(
    [counted.get('accepted'), counted.get('duplicate'), counted.get('ignored'), counted.get('skipped')],
    [1, 1, 1, 1],
  )
  assert.deepEqual([early, late, await overdue()], [0, 30, 0])
})
