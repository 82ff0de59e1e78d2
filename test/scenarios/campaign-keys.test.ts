/** Idempotency keys of campaign operations (behaviour: idempotency 4; campaigns 1, 2, 6). */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Answered, Api } from '../support/api.ts'
import { startWorld, type World } from '../support/world.ts'

const keyed = { 'idempotency-key': 'a' }
const spring = {
  name: 'Spring sale',
  channel: 'ch_test_sms',
  audience: { type: 'adhoc', recipients: [{ to: '+4915112345678', variables: { code: 'A1' } }] },
  message: { type: 'text', text: { body: 'Your code is {{code}}.' } },
  consent_declared: true,
}
const waiting = { send_at: '2100-01-01T00:00:00Z' }

const operations: Readonly<Record<string, (api: Api) => Promise<[string, object | undefined]>>> = {
  create: async () => ['/v1/campaigns', spring],
  'create and launch': async () => ['/v1/campaigns', { ...spring, schedule: waiting, launch: true }],
  launch: async (api) => [`/v1/campaigns/${await saved(api)}/launch`, undefined],
  duplicate: async (api) => [`/v1/campaigns/${await saved(api)}/duplicate`, { name: 'Again' }],
  test: async (api) => [`/v1/campaigns/${await saved(api)}/test`, { to: '+4915112345679' }],
  pause: async (api) => [`/v1/campaigns/${await saved(api, 'launch')}/pause`, undefined],
  resume: async (api) => [`/v1/campaigns/${await saved(api, 'launch', 'pause')}/resume`, undefined],
  cancel: async (api) => [`/v1/campaigns/${await saved(api, 'launch')}/cancel`, undefined],
}

async function saved(api: Api, ...actions: string[]): Promise<string> {
  const { id } = (await api.post('/v1/campaigns', { ...spring, schedule: waiting })).body
  for (const action of actions) assert.equal((await api.post(`/v1/campaigns/${id}/${action}`)).status, 200, action)
  return id
}

const everything = async (api: Api): Promise<unknown> => {
  const [campaigns, messages] = [await api.get('/v1/campaigns?limit=100'), await api.get('/v1/messages?limit=100')]
  return [campaigns.body.data, messages.body.data.map(({ id }: { id: string }) => id)]
}

/** Writing a key fails if `condition` matches the old row, as if the process had died. Resolves to the repair. */
async function dieAtKeys({ pool }: World, condition: string): Promise<() => Promise<void>> {
  await pool.unsafe(`
    create function die() returns trigger language plpgsql as $$ begin raise 'died'; end $$;
    create trigger die before update on idempotency_keys for each row when (${condition}) execute function die()`)
  return async () => void (await pool`drop function die cascade`)
}

const shown = ({ status, headers, body }: Answered) => ({ status, replayed: headers['idempotent-replayed'], body })

test('every campaign operation with a key happens once, and its first answer is replayed', async (t) => {
  const world = await startWorld(t)

  for (const [name, prepare] of Object.entries(operations)) {
    const { api } = await world.account()
    const [path, body] = await prepare(api)
    const first = await api.post(path, body, keyed)
    const after = await everything(api)
    const again = await api.post(path, body, keyed)
    const other = await api.post(path, { ...body, another: true }, keyed)

    assert.ok(first.status < 300, name)
    assert.deepEqual(shown(again), { status: first.status, replayed: 'true', body: first.body }, name)
    assert.deepEqual([other.status, other.body.error.code], [409, 'idempotency_key_reused'], name)
    assert.deepEqual(await everything(api), after, name)
  }
})

test('a process that dies after the commit leaves the stored answer', async (t) => {
  const world = await startWorld(t)

  for (const [name, prepare] of Object.entries(operations)) {
    const { api } = await world.account()
    const [path, body] = await prepare(api)
    const revive = await dieAtKeys(world, 'old.status is not null')
    await api.post(path, body, keyed)
    await revive()
    const after = await everything(api)
    const again = await api.post(path, body, keyed)

    assert.ok(again.status < 300, `${name} ${again.status}`)
    assert.equal(again.headers['idempotent-replayed'], 'true', name)
    assert.deepEqual(await everything(api), after, name)
  }
})

test('a process that dies before the commit leaves nothing, and the key is free', async (t) => {
  const world = await startWorld(t)

  // a test message inserts its own key
  for (const [name, prepare] of Object.entries(operations).filter(([operation]) => operation !== 'test')) {
    const { api } = await world.account()
    const [path, body] = await prepare(api)
    const before = await everything(api)
    const revive = await dieAtKeys(world, 'new.status is not null')
    const died = await api.post(path, body, keyed)
    const left = await everything(api)
    await revive()
    const again = await api.post(path, body, keyed)

    assert.equal(died.status, 500, name)
    assert.deepEqual(left, before, name)
    assert.ok(again.status < 300, name)
    assert.equal(again.headers['idempotent-replayed'], undefined, name)
  }
})

test('the key of a test message replays its answer, whatever happened to campaign and contact', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  const id = await saved(api)
  const to = '+4915112345679'
  const plain = await api.post(
    '/v1/messages',
    { channel: 'ch_test_sms', to, type: 'text', text: { body: 'Your code is A1.' } },
    keyed,
  )

  const first = await api.post(`/v1/campaigns/${id}/test`, { to }, keyed)
  await api.delete(`/v1/campaigns/${id}`)
  const again = await api.post(`/v1/campaigns/${id}/test`, { to }, keyed)

  assert.equal(first.status, 202)
  assert.notEqual(first.body.id, plain.body.id)
  assert.deepEqual(shown(again), { status: 202, replayed: 'true', body: first.body })
})

test('a key whose lease passed to another process stores only the answer of that process', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account()
  // another process claims the key between claim and effect
  await world.pool.unsafe(`
    create function overtake() returns trigger language plpgsql as $$
      begin update idempotency_keys set created_at = created_at + interval '61 s'; return new; end $$;
    create trigger overtake before insert on campaigns for each row execute function overtake()`)
  const late = await api.post('/v1/campaigns', spring, keyed)

  assert.deepEqual([late.status, late.body.error.code], [409, 'idempotency_key_in_use'])
  assert.deepEqual((await api.get('/v1/campaigns')).body.data, [])
})
