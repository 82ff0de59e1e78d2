/** Heartbeats show other processes that a process lives (behaviour: operating 3.2). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { closing } from '../../../test/support/closing.ts'
import { within } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { limits } from '../../api/limits.ts'
import { heartbeatWorker } from './periodic-jobs.ts'
import { poolUse } from '../database/pool.ts'
import { processRegistry } from './process-registry.ts'

test('a process sends heartbeats although all its connections are in use', async (t) => {
  const { platform, pool, clock } = await startPlatform(t)
  const present = processRegistry(platform, { beforeSharing: async () => undefined, wakePeers: () => undefined })
  await present.open()
  closing(t, () => present.close())
  const heartbeat = heartbeatWorker(platform, ['api'], present)
  await heartbeat.tick()
  const held = await Promise.all(Array.from({ length: poolUse(pool).max - 1 }, () => pool.reserve()))
  closing(t, () => held.forEach((connection) => connection.release()))
  const waiting = pool.reserve()

  await clock.advance(60_000)
  await within('the heartbeat', heartbeat.tick())

  const [beat] = await held[0]!<
    { heartbeat_at: string }[]
  >`select heartbeat_at from processes where id = ${platform.process_id}`
  assert.deepEqual([beat?.heartbeat_at, poolUse(pool).waiting], [clock.iso(), 1])
  held.pop()!.release()
  ;(await waiting).release()
})

test('a process does not trust that it is alone for longer when the clock is set back', async (t) => {
  const { platform, clock } = await startPlatform(t)
  const present = processRegistry(platform, { beforeSharing: async () => undefined, wakePeers: () => undefined })
  await present.open()
  closing(t, () => present.close())

  clock.jump(-3600_000)
  const seen = [present.alone()]
  await clock.advance(limits.process_silent_ms)
  seen.push(present.alone())

  assert.deepEqual(seen, [true, false])
})
