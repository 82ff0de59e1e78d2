import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startPlatform, startWorld } from '../../../test/support/world.ts'
import { openSecrets } from '../../platform/secrets/secrets.ts'
import type { ChannelService } from './service.ts'
import { channelPeriodicJobs, channelWorkers } from './reconnect.ts'

test('credentials are re-encrypted after a rotation of the secret key', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live' })
  const creation = { type: 'sms', provider: 'simulator', name: 'Shop', identifier: '+15550100', credentials: {} }
  assert.equal((await api.post('/v1/channels', creation)).status, 201)
  const before = Buffer.alloc(32, 7).toString('base64')
  const current = randomBytes(32).toString('base64')
  const rotated = { ...world.platform, secrets: await openSecrets(world.pool, { current, previous: [before] }) }
  const [periodicJob] = channelPeriodicJobs(rotated)

  assert.equal(await periodicJob!.run(), 1)
  assert.equal(await periodicJob!.run(), 0)

  const alone = await openSecrets(world.pool, { current, previous: [] })
  const [channel] = await world.pool<{ credentials: string }[]>`select credentials from channels`
  assert.deepEqual(JSON.parse(alone.open(channel!.credentials)), {})
})

test('credentials that cannot be decrypted do not prevent re-encrypting others', async (t) => {
  const world = await startWorld(t)
  const { api } = await world.account({ mode: 'live' })
  for (const identifier of ['+15550100', '+15550101'])
    await api.post('/v1/channels', { type: 'sms', provider: 'simulator', name: 'Shop', identifier, credentials: {} })
  await world.pool`update channels set credentials = 'lost' where identifier = '+15550100'`
  const before = Buffer.alloc(32, 7).toString('base64')
  const current = randomBytes(32).toString('base64')
  const rotated = { ...world.platform, secrets: await openSecrets(world.pool, { current, previous: [before] }) }
  const [periodicJob] = channelPeriodicJobs(rotated)

  assert.equal(await periodicJob!.run(), 1)
  const [channel] = await world.pool<
    { credentials: string }[]
  >`select credentials from channels where identifier = '+15550101'`
  assert.equal(rotated.secrets.isCurrent(channel!.credentials), true)
})

test('every disconnected channel is retried, however many others stay disconnected', async (t) => {
  const { platform, pool, clock } = await startPlatform(t)
  await pool`insert into accounts (id, name, created_at) values ('acc_1', 'Shop', ${clock.iso()})`
  await pool`
    insert into channels (account_id, mode, id, type, provider, name, identifier, status, connection_status, capabilities, settings, credentials, created_at)
    select 'acc_1', 'live', 'ch_' || n, 'sms', 'away', 'Shop', '+' || n, 'active', 'disconnected', '{text}', '{}', '', ${clock.iso()} from generate_series(10001, 10600) n`
  const tried = new Set<string>()
  const retryConnection = async (_sql: unknown, _tenant: unknown, id: string) => {
    tried.add(id)
    throw new Error('out of reach')
  }
  const [worker] = channelWorkers(platform, {
    retryConnection,
    needsSession: () => false,
    templatesWorker: undefined,
  } as unknown as ChannelService)

  for (let second = 0; second < 120; second++) {
    await worker!.tick()
    await clock.advance(1000)
  }

  assert.equal(tried.size, 600)
})
