/** Lists of runs (behaviour: integrations 6.2). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertRuns } from '../../src/modules/automations/runs/repository.ts'
import { startWorld } from '../support/world.ts'

test('runs are listed newest first by automation and status, in pages, and only to their account', async (t) => {
  const world = await startWorld(t)
  const { api, id: account_id } = await world.account()
  const stranger = await world.account()
  const made = (automation_id: string, skipped: boolean) => {
    const id = world.platform.ids('run')
    return {
      account_id: account_id as `acc_${string}`,
      mode: 'test' as const,
      id,
      source_id: world.platform.ids('src'),
      automation_id,
      automation_event_id: world.platform.ids('aev'),
      contact_id: null,
      customer_keys: [],
      channel_type: 'sms',
      to: null,
      status: skipped ? ('skipped' as const) : ('scheduled' as const),
      reason: skipped ? 'no_identifier' : null,
      scheduled_for: world.clock.iso(),
      event_type: 'order.paid',
      created_at: world.clock.iso(),
    }
  }
  const automation = world.platform.ids('aut')
  const runs = [made(automation, true), made(automation, false), made(world.platform.ids('aut'), true)]
  await insertRuns(world.pool, runs)
  const [first, second, third] = runs.map(({ id }) => id)
  const idsOf = async (query: string) => {
    const { status, body } = await api.get(`/v1/automation_runs${query}`)
    assert.equal(status, 200)
    return body.data.map(({ id }: { id: string }) => id)
  }

  const one = await api.get(`/v1/automation_runs/${first}`)
  const page = await api.get('/v1/automation_runs?limit=1')
  const nobody = await stranger.api.get(`/v1/automation_runs/${first}`)
  const nothing = await stranger.api.get('/v1/automation_runs')
  const wrong = await api.get('/v1/automation_runs?status=lost')
  const nowhere = await stranger.api.get(`/v1/automation_runs?starting_after=${first}`)

  assert.deepEqual(one.body, {
    id: first,
    object: 'automation_run',
    mode: 'test',
    automation_id: automation,
    source_id: runs[0]!.source_id,
    automation_event_id: runs[0]!.automation_event_id,
    contact_id: null,
    status: 'skipped',
    reason: 'no_identifier',
    scheduled_for: world.clock.iso(),
    message_id: null,
    created_at: world.clock.iso(),
  })
  assert.deepEqual([page.body.data[0].id, page.body.has_more, page.body.next_cursor], [third, true, third])
  assert.deepEqual(await idsOf(`?starting_after=${third}`), [second, first])
  assert.deepEqual(await idsOf(`?automation=${automation}`), [second, first])
  assert.deepEqual(await idsOf('?status=skipped'), [third, first])
  assert.deepEqual(await idsOf(`?automation=${automation}&status=skipped`), [first])
  assert.deepEqual(await idsOf('?automation=aut_of_nobody'), [])
  assert.deepEqual([nobody.status, nobody.body.error.code], [404, 'resource_missing'])
  assert.deepEqual(nothing.body.data, [])
  assert.deepEqual([wrong.status, wrong.body.error.param], [400, 'status'])
  assert.deepEqual([nowhere.status, nowhere.body.error.param], [400, 'starting_after'])
})
