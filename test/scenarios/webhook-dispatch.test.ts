/** Deliveries are not lost or repeated needlessly, and changes of the endpoint apply at once. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { isoTime } from '../../src/lib/clock.ts'
import { recordEvents } from '../../src/platform/events/outbox.ts'
import { startProcess } from '../support/process.ts'
import { rawReceiver, respond } from '../support/raw-receiver.ts'
import { until } from '../support/waiting.ts'
import { startWorld, type TestAccount, type World } from '../support/world.ts'

/** A receiver, and an endpoint with one delivery already, so that this process has its lease. */
async function start(t: TestContext, settings: object = {}) {
  let status: number | 'hang' = 200
  const hung: [Socket, string][] = []
  const receiver = await rawReceiver(t, (socket, request, index) => {
    if (status === 'hang') hung.push([socket, request])
    else respond(status)(socket, request, index)
  })
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [receiver.host], ...settings } })
  const account = await world.account()
  const { platform } = world
  await world.pool`insert into processes (id, roles, started_at, heartbeat_at) values (${platform.process_id}, '{worker}', ${world.clock.iso()}, ${world.clock.iso()})`
  const made = await account.api.post('/v1/webhook_endpoints', {
    url: `http://${receiver.host}/hook`,
    events: ['message.sent'],
  })
  const endpoint_id = made.body.id as string
  await happen(world, account)
  await world.tick('deliver')
  return {
    world,
    account,
    endpoint_id,
    receiver,
    answer: (how: number | 'hang') => void (status = how),
    /** Creates events with a hanging receiver until it has this many requests in total. */
    async hanging(events: number, requests: number) {
      status = 'hang'
      const ids = await happen(world, account, events)
      await world.tickWhileTimePasses('deliver')
      await receiver.arrived(requests)
      return ids
    },
    /** Answers the hanging requests, or this many of them. */
    letGo(code = 200, count = hung.length) {
      for (const [socket, request] of hung.splice(0, count)) respond(code)(socket, request, 0)
    },
    /** The number of deliveries in each table, without the first one. */
    async places() {
      const count = async (table: string) =>
        Number((await world.pool.unsafe(`select count(*) as n from ${table}`))[0]!['n'])
      return {
        queue: await count('webhook_queue'),
        retries: await count('webhook_retries'),
        ended: (await count('webhook_deliveries')) - 1,
      }
    },
  }
}

async function happen(world: World, account: TestAccount, count = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, () => world.platform.ids('evt'))
  await recordEvents(
    world.pool,
    ids.map((id) => ({
      account_id: account.id as `acc_${string}`,
      mode: account.mode,
      id,
      type: 'message.sent' as const,
      object_id: world.platform.ids('msg'),
      object: { object: 'message' },
      created_at: world.clock.iso(),
    })),
  )
  await world.settle('fan-out')
  return ids
}

const deliveries = async (account: TestAccount, id: string, query = '') =>
  (await account.api.get(`/v1/webhook_endpoints/${id}/deliveries?limit=100${query}`)).body.data
const eventOf = (request: string): string => /service-event-id: (\S+)/i.exec(request)![1]!

async function passUntil(world: World, what: string, reached: () => Promise<boolean>) {
  await until(what, async () => {
    await world.tickWhileTimePasses('deliver')
    return await reached()
  })
}

test('a successful delivery leaves the queue and is recorded', async (t) => {
  const { world, account, endpoint_id, places } = await start(t)

  const ids = await happen(world, account, 3)
  await world.tick('deliver')

  assert.deepEqual(await places(), { queue: 0, retries: 0, ended: 3 })
  const made = (await deliveries(account, endpoint_id)).slice(0, 3)
  assert.deepEqual(
    made.map((row: { event_id: string }) => row.event_id),
    ids.toReversed(),
  )
  for (const row of made)
    assert.deepEqual(
      [row.status, row.attempts, row.response_status, row.error, row.event_type],
      ['delivered', 1, 200, null, 'message.sent'],
    )
  await world.invariants()
})

test('a delivery is listed as pending during its attempt, and never twice', async (t) => {
  const { world, account, endpoint_id, letGo, places, hanging } = await start(t)
  const path = `/v1/webhook_endpoints/${endpoint_id}/deliveries`
  const [first] = await deliveries(account, endpoint_id)
  const events = await hanging(3, 4)
  assert.equal((await places()).queue, 3)

  const listed = await deliveries(account, endpoint_id)
  assert.deepEqual(
    listed.map((row: { event_id: string; status: string; attempts: number }) => [
      row.event_id,
      row.status,
      row.attempts,
    ]),
    [...events.toReversed().map((id) => [id, 'pending', 0]), [first.event_id, 'delivered', 1]],
  )
  assert.deepEqual(await deliveries(account, endpoint_id, '&status=pending'), listed.slice(0, 3))
  assert.deepEqual(await deliveries(account, endpoint_id, '&status=delivered'), [first])
  assert.deepEqual(await deliveries(account, endpoint_id, '&status=failed'), [])
  assert.deepEqual(await deliveries(account, endpoint_id, `&starting_after=${listed[1].id}`), listed.slice(2))
  assert.deepEqual((await account.api.get(`${path}/${listed[0].id}`)).body, listed[0])
  const retried = await account.api.post(`${path}/${listed[0].id}/retry`)
  assert.deepEqual([retried.status, retried.body.error.code], [409, 'delivery_state_invalid'])

  letGo(200, 1)
  await passUntil(world, '1 deliveries to end', async () => (await places()).ended === 1)
  const later = await deliveries(account, endpoint_id)
  assert.deepEqual(later.map((row: { status: string }) => row.status).toSorted(), [
    'delivered',
    'delivered',
    'pending',
    'pending',
  ])
  assert.deepEqual(
    later.map((row: { id: string }) => row.id),
    listed.map((row: { id: string }) => row.id),
  )
  letGo()
  await passUntil(world, '3 deliveries to end', async () => (await places()).ended === 3)
  await world.invariants()
})

test('a failed first attempt waits for its retry without delaying the next delivery', async (t) => {
  const { world, account, endpoint_id, answer, places } = await start(t)
  answer(500)
  const failed = world.clock.now()
  await happen(world, account)
  await world.tick('deliver')

  const [row] = await deliveries(account, endpoint_id)
  const delay = Date.parse(row.next_attempt_at) - failed
  assert.deepEqual([row.status, row.attempts, row.error, row.response_status], ['pending', 1, 'status_500', 500])
  assert.ok(delay >= 30_000 && delay <= 33_000, `${delay}`)
  assert.deepEqual(await places(), { queue: 0, retries: 1, ended: 0 })
  const [turn] = await world.pool`select failures from webhook_leases`
  assert.equal(turn!['failures'], 1)
  answer(200)
  await happen(world, account)
  await world.settle()
  assert.deepEqual(await places(), { queue: 0, retries: 1, ended: 1 })
  await world.clock.advance(33_000)
  await world.settle()
  assert.deepEqual(await places(), { queue: 0, retries: 0, ended: 2 })
  await world.invariants()
})

test('without retries a failed first attempt ends the delivery as failed', async (t) => {
  const { world, account, endpoint_id, answer, places } = await start(t, { webhook_retry_delays: [] })
  answer(404)
  await happen(world, account)
  await world.tick('deliver')

  const [row] = await deliveries(account, endpoint_id, '&status=failed')
  assert.deepEqual([row.status, row.attempts, row.error, row.next_attempt_at], ['failed', 1, 'status_404', null])
  assert.deepEqual(await places(), { queue: 0, retries: 0, ended: 1 })
  await world.invariants()
})

test('another process makes the pending deliveries of a dead one and does not repeat recorded ones', async (t) => {
  const { world, account, answer, letGo, places, receiver } = await start(t)
  const other = (await startProcess(t, world, 'other')).app
  const settled = await happen(world, account, 2)
  await passUntil(world, '2 deliveries to end', async () => (await places()).ended === 2)
  answer('hang')
  const unsettled = await happen(world, account, 3)
  await world.tickWhileTimePasses('deliver')
  await receiver.arrived(6)
  assert.deepEqual(await places(), { queue: 3, retries: 0, ended: 2 })

  await other.worker('deliver').tick()
  const early = receiver.requests.length
  await world.pool`update processes set heartbeat_at = ${isoTime(world.clock.now() - 11_000)} where id <> 'other'`
  answer(200)
  await other.worker('deliver').tick()

  assert.equal(early, 6)
  assert.deepEqual(await places(), { queue: 0, retries: 0, ended: 5 })
  const sent = receiver.requests.slice(1).map(eventOf)
  assert.deepEqual(sent.toSorted(), [...settled, ...unsettled, ...unsettled].toSorted())
  letGo()
  await world.tickWhileTimePasses('deliver')
  await world.settle()
  assert.equal((await places()).ended, 5)
  assert.equal(receiver.requests.length, 9)
  await world.invariants()
})

test('many deliveries to a slow receiver are all made, each once', async (t) => {
  const { world, account, answer, letGo, places, receiver } = await start(t)
  answer('hang')
  const ids = await happen(world, account, 50)
  await world.tickWhileTimePasses('deliver')
  await receiver.arrived(2)
  answer(200)
  letGo()
  await passUntil(world, '50 deliveries to end', async () => (await places()).ended === 50)

  assert.deepEqual(receiver.requests.slice(1).map(eventOf).toSorted(), ids)
  await world.invariants()
})

test('a process makes no attempt at an endpoint whose lease another process has', async (t) => {
  const { world, account, places } = await start(t)
  await world.pool`insert into processes (id, roles, started_at, heartbeat_at) values ('other', '{worker}', ${world.clock.iso()}, ${world.clock.iso()})`
  await world.pool`update webhook_leases set process_id = 'other'`

  await happen(world, account)
  await world.tick('deliver')

  assert.deepEqual(await places(), { queue: 1, retries: 0, ended: 0 })
  await (await startProcess(t, world, 'other')).app.worker('deliver').tick()
  assert.deepEqual(await places(), { queue: 0, retries: 0, ended: 1 })
})

test('disabling an endpoint ends its pending deliveries, even if it is enabled again at once', async (t) => {
  const { world, account, endpoint_id, answer, letGo, places, receiver, hanging } = await start(t)
  await hanging(12, 2)
  const path = `/v1/webhook_endpoints/${endpoint_id}`

  await account.api.patch(path, { status: 'disabled' })
  const dropped = await deliveries(account, endpoint_id, '&status=failed')
  await account.api.patch(path, { status: 'active' })
  await world.tickWhileTimePasses('deliver')
  const begun = receiver.requests.length
  answer(200)
  letGo()
  await world.tickWhileTimePasses('deliver')
  await world.clock.advance(60_000)
  await world.settle()

  assert.equal(dropped.length, 12)
  assert.ok(
    dropped.every(
      (row: { error: string; attempts: number }) => row.error === 'endpoint_disabled' && row.attempts === 0,
    ),
  )
  assert.deepEqual([(await places()).ended, (await places()).queue, (await places()).retries], [12, 0, 0])
  assert.ok(begun < 13)
  assert.equal(receiver.requests.length, begun)
  await happen(world, account)
  await world.settle()
  assert.equal(receiver.requests.length, begun + 1)
  await world.invariants()
})

test('nothing is sent to an endpoint after the request that disabled it was answered', async (t) => {
  const { world, account, endpoint_id, answer, letGo, receiver, hanging } = await start(t)
  await hanging(20, 6)
  const begun = receiver.requests.length

  await account.api.patch(`/v1/webhook_endpoints/${endpoint_id}`, { status: 'disabled' })
  answer(200)
  letGo()
  await world.tickWhileTimePasses('deliver')

  assert.equal(receiver.requests.length, begun)
  await world.invariants()
})

test('pending deliveries are signed with the new secret after the old one was rolled', async (t) => {
  const { world, account, endpoint_id, answer, letGo, receiver, hanging } = await start(t)
  await hanging(20, 6)
  const begun = receiver.requests.length

  const rolled = await account.api.post(`/v1/webhook_endpoints/${endpoint_id}/roll_secret`)
  answer(200)
  letGo()
  await passUntil(world, '21 requests', async () => receiver.requests.length >= 21)

  const later = receiver.requests.slice(begun)
  assert.equal(later.length, 21 - begun)
  for (const request of later) {
    const [, at, signature] = /service-signature: t=(\d+),v1=(\w+)\r/i.exec(request)!
    const body = request.slice(request.indexOf('\r\n\r\n') + 4)
    assert.equal(signature, createHmac('sha256', rolled.body.secret).update(`${at}.${body}`).digest('hex'))
  }
})

test('deleting an endpoint ends its pending deliveries, and a failed attempt is not retried', async (t) => {
  const { world, account, endpoint_id, answer, letGo, places, hanging } = await start(t)
  await hanging(3, 4)

  await account.api.delete(`/v1/webhook_endpoints/${endpoint_id}`)
  answer(500)
  letGo(500)
  await world.tickWhileTimePasses('deliver')
  await world.clock.advance(60_000)
  await world.settle()

  assert.deepEqual(await places(), { queue: 0, retries: 0, ended: 3 })
  const rows = await world.pool`select distinct status, error from webhook_deliveries where status <> 'delivered'`
  assert.deepEqual(
    [...rows].map((row) => ({ ...row })),
    [{ status: 'failed', error: 'endpoint_disabled' }],
  )
  await world.invariants()
})

test('pending deliveries go to the new URL of an endpoint', async (t) => {
  const { world, account, endpoint_id, answer, letGo, places, receiver, hanging } = await start(t)
  await hanging(12, 2)

  await account.api.patch(`/v1/webhook_endpoints/${endpoint_id}`, { url: `http://${receiver.host}/new` })
  await world.tickWhileTimePasses('deliver')
  const old = receiver.requests.length - 1
  answer(200)
  letGo()
  await passUntil(world, '12 deliveries to end', async () => (await places()).ended === 12)

  const paths = receiver.requests.slice(1).map((request) => request.split(' ')[1])
  assert.ok(old < 12)
  assert.deepEqual(
    [paths.filter((path) => path === '/hook').length, paths.filter((path) => path === '/new').length],
    [old, 12 - old],
  )
  assert.equal((await places()).ended, 12)
  await world.invariants()
})

test('a stopping process leaves unfinished deliveries in the queue', async (t) => {
  const { world, places, hanging } = await start(t)
  await hanging(12, 2)

  await world.stop()

  assert.deepEqual(await places(), { queue: 12, retries: 0, ended: 0 })
})

test('the queue depth includes deliveries in progress', async (t) => {
  const { world, hanging } = await start(t)
  await hanging(3, 4)

  await world.app.periodicJobs.find((periodicJob) => periodicJob.name === 'measure-webhook-queues')!.run()

  const { values } = await world.app.platform.metrics.queue_depth.get()
  assert.equal(values.find((value) => value.labels['queue'] === 'webhook_due')?.value, 3)
})

test('a delivery that succeeds while the queue is read is not sent again', async (t) => {
  const { world, answer, letGo, places, receiver, hanging } = await start(t)
  // a read of the queue returns once the gate is open
  await world.pool.unsafe(`
    alter function webhook_due_deliveries(json) rename to webhook_due_at_once;
    create function webhook_due_deliveries(p_wants json) returns setof webhook_queue language plpgsql as '
      declare found webhook_queue[];
      begin
        found := array(select q from webhook_due_at_once(p_wants) q);
        perform pg_advisory_xact_lock_shared(4711);
        return query select * from unnest(found);
      end'`)
  await hanging(1, 2)

  const gate = await world.pool.reserve()
  await gate`select pg_advisory_lock(4711)`
  const passing = world.tickWhileTimePasses('deliver')
  const readers = async () =>
    Number(
      (
        await world.pool`select count(*) as n from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`
      )[0]!['n'],
    )
  await until('the queue to be read', readers)
  answer(200)
  letGo()
  await until('the delivery to end', async () => (await places()).ended)
  await gate`select pg_advisory_unlock(4711)`
  gate.release()
  await passing
  await world.tickWhileTimePasses('deliver')

  assert.equal(receiver.requests.length, 2)
  assert.deepEqual(await places(), { queue: 0, retries: 0, ended: 1 })
  await world.invariants()
})

test('doctor names an event that the fan-out skipped', async (t) => {
  const { world, account, endpoint_id } = await start(t)
  const [event_id] = await happen(world, account)
  await world.tick('deliver')
  await world.invariants()

  await world.pool`delete from webhook_deliveries where event_id = ${event_id!}`

  await assert.rejects(
    world.invariants(),
    new RegExp(
      `events-reach-their-subscribers: The event ${event_id} .* the endpoint ${endpoint_id}, which subscribes to message.sent`,
    ),
  )
})
