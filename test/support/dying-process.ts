/** A process that is killed during a send attempt. */
import type { TestContext } from 'node:test'
import { startProcess } from './process.ts'
import type { World } from './world.ts'

export async function dyingSendAttempt(t: TestContext, world: World, send: (more: object) => Promise<string>) {
  const dying = await startProcess(t, world, 'dying')
  // the world would send a message that is due now
  const id = await send({ send_at: world.clock.iso(1000) })
  await world.clock.advance(1000)
  void dying.app
    .worker('dispatch')
    .tick()
    .catch(() => 0)
  return { id, kill: () => dying.kill() }
}

export async function seeDeath(world: World): Promise<void> {
  await world.clock.advance(15_000)
  await world.tick('heartbeat')
}
