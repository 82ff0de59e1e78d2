import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import Stripe from 'stripe'
import { Webhook } from 'standardwebhooks'
import { closing } from '../../test/support/closing.ts'
import { rawReceiver, respond, type Answer } from '../../test/support/raw-receiver.ts'
import { startWorld, type TestAccount, type World } from '../../test/support/world.ts'
import type { SteadyClock } from '../lib/clock.ts'
import { httpPoster } from '../lib/http-poster.ts'
import { nameResolver } from '../lib/sockets.ts'
import { recordEvents } from '../platform/events/outbox.ts'
import { makeListener } from './listen.ts'

/** Waits end at the next turn. */
const hasty: SteadyClock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) =>
      ms >= 10_000 ? signal?.addEventListener('abort', () => resolve()) : setTimeout(resolve, 2),
    ),
}

async function start(t: TestContext, answer: Answer) {
  const folder = await mkdtemp(join(tmpdir(), 'listen-'))
  t.after(() => rm(folder, { recursive: true }))
  const receiver = await rawReceiver(t, answer)
  const world = await startWorld(t)
  const account = await world.account()
  const poster = httpPoster({ clock: hasty, resolve: nameResolver(), allowed_hosts: [receiver.host] })
  closing(t, () => poster.close())
  /** `end` is Ctrl-C. */
  const run = async (more: { key?: string; events?: string[]; signal?: AbortSignal } = {}) => {
    const end = new AbortController()
    const lines: string[] = []
    const listener = await makeListener({
      base_url: world.base_url,
      key: account.key,
      events: [],
      forward_to: `http://${receiver.host}/in`,
      folder,
      clock: hasty,
      poster,
      print: (line) => lines.push(line),
      signal: end.signal,
      ...more,
    })
    const following = listener.follow()
    return { secret: listener.secret, lines, following, end: async () => (end.abort(), await following) }
  }
  return { world, account, receiver, run }
}

async function happen(
  world: World,
  account: TestAccount,
  type: 'message.sent' | 'message.read' = 'message.sent',
): Promise<string> {
  const id = world.platform.ids('evt')
  const { body: object } = await account.api.post('/v1/messages', {
    channel: 'ch_test_sms',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hello' },
  })
  await recordEvents(world.pool, [
    {
      account_id: account.id as `acc_${string}`,
      mode: 'test',
      id,
      type,
      object_id: object.id,
      object,
      created_at: world.clock.iso(),
    },
  ])
  return id
}

const idsOf = (requests: readonly string[]) =>
  requests.map((request) => (JSON.parse(request.slice(request.indexOf('\r\n\r\n') + 4)) as { id: string }).id)

test('events that happen from now on are posted in order, signed with the secret that is shown', async (t) => {
  const { world, account, receiver, run } = await start(t, respond(200))
  await happen(world, account)
  assert.equal((await account.api.get('/v1/events')).body.data.length, 1)
  const running = await run()
  const ids = [await happen(world, account), await happen(world, account), await happen(world, account)]

  await receiver.arrived(3)
  await running.end()

  assert.deepEqual(idsOf(receiver.requests), ids)
  const [head, body] = receiver.requests[0]!.split('\r\n\r\n')
  const signature = /Service-Signature: (.*)\r\n/.exec(head!)![1]!
  assert.equal(Stripe.webhooks.constructEvent(body!, signature, running.secret).id, ids[0])
  const standard = Object.fromEntries(
    [...head!.matchAll(/^(webhook-\w+): (.*)$/gm)].map(([, name, value]) => [name!, value!.trim()]),
  )
  assert.equal((new Webhook(running.secret).verify(body!, standard) as { id: string }).id, ids[0])
})

test('after a restart no event is lost, no acknowledged one is repeated, and the secret is the same', async (t) => {
  const { world, account, receiver, run } = await start(t, respond(200))
  const first = await run()
  const ids = [await happen(world, account)]
  await receiver.arrived(1)
  await first.end()
  ids.push(await happen(world, account), await happen(world, account))

  const second = await run()
  await receiver.arrived(3)
  await second.end()

  assert.deepEqual(idsOf(receiver.requests), ids)
  assert.equal(second.secret, first.secret)
})

test('an event is retried until it is acknowledged, and no other event overtakes it', async (t) => {
  const { world, account, receiver, run } = await start(t, (socket, request, index) =>
    index < 2
      ? respond(500)(socket, request, index)
      : index === 2
        ? socket.destroy()
        : respond(204)(socket, request, index),
  )
  const running = await run()
  const ids = [await happen(world, account), await happen(world, account)]

  await receiver.arrived(5)
  await running.end()

  assert.deepEqual([...new Set(idsOf(receiver.requests))], ids)
  assert.equal(idsOf(receiver.requests).at(-1), ids[1])
  assert.match(running.lines[0]!, /status_500/)
})

test('events of other types are passed over, and a refused key ends the command', async (t) => {
  const { world, account, receiver, run } = await start(t, respond(200))
  const running = await run({ events: ['message.read'] })
  await happen(world, account)
  const wanted = await happen(world, account, 'message.read')

  await receiver.arrived(1)
  await running.end()

  assert.deepEqual(idsOf(receiver.requests), [wanted])
  await assert.rejects(
    run({ key: `${account.key.slice(0, -1)}${account.key.endsWith('x') ? 'y' : 'x'}` }),
    /refuses to show its events \(401\)/,
  )
})

test('a listener that is stopped before the service answers stores its secret, and the next one begins with new events', async (t) => {
  const { world, account, receiver, run } = await start(t, respond(200))
  await happen(world, account)
  assert.equal((await account.api.get('/v1/events')).body.data.length, 1)
  const ended = await run({ signal: AbortSignal.abort() })
  await ended.following

  const running = await run()
  const later = await happen(world, account)
  await receiver.arrived(1)
  await running.end()

  assert.deepEqual(idsOf(receiver.requests), [later])
  assert.equal(running.secret, ended.secret)
})
