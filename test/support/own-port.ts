/** Ports for what begins to listen later, and may be ended and begin again: of one process alone until that ends. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { randomInt } from 'node:crypto'
import { isFree } from '../../src/lib/system.ts'

/** Below those that the product draws for itself, and those that systems give to outgoing connections; above the last that browsers refuse (10080). */
const ports = [11_000, 19_999] as const
/** A UDP port so far above is held for each: the system lets go of it with the process, however that ends. */
const heldAbove = 10_000
const triesMax = 200

/** A port of 127.0.0.1 on which nobody listens, and which no other call of this takes while the process lives. */
export async function ownPort([lowest, highest]: readonly [number, number] = ports): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(lowest, highest + 1)
    if ((await isHeld(port + heldAbove)) && (await isFree('127.0.0.1', port))) return port
  }
  throw new Error(`none of ${triesMax} ports from ${lowest} to ${highest} is free`)
}

async function isHeld(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  try {
    const listening = once(socket, 'listening')
    socket.bind({ port, address: '127.0.0.1', exclusive: true })
    await listening
  } catch {
    // somebody else has it
    socket.close()
    return false
  }
  socket.unref()
  return true
}
