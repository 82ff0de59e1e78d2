/** A process that is killed in the middle of a hand-over, for tests of what the others make of that. */
import type { TestContext } from 'node:test'
import { startProcess } from './process.ts'
import type { World } from './world.ts'

/** Has a process of its own begin to hand over a message, which `send` accepts here. It is in the middle of that until `kill`. */
export async function dyingHandOver(t: TestContext, world: World, send: (more: object) => Promise<string>) {
  const dying = await startProcess(t, world, 'dying')
  // one that is due at once would be handed over here
  const id = await send({ send_at: world.clock.iso(1000) })
  await world.clock.advance(1000)
  void dying.app
    .worker('dispatch')
    .tick()
    .catch(() => 0)
  return { id, kill: () => dying.kill() }
}

/** Lets time go on until the death of a process is seen. */
export async function seeDeath(world: World): Promise<void> {
  await world.clock.advance(15_000)
  await world.tick('heartbeat')
}
