/** Reserves ports for later listeners of one process. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { randomInt } from 'node:crypto'
import { isFree } from '../../src/lib/system.ts'

/** Below ephemeral ports and above those that browsers refuse. */
const ports = [11_000, 19_999] as const
/** A bound UDP port at this distance reserves each; the system frees it with the process. */
const reservedAbove = 10_000
const triesMax = 200

export async function ownPort([lowest, highest]: readonly [number, number] = ports): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(lowest, highest + 1)
    if ((await isReserved(port + reservedAbove)) && (await isFree('127.0.0.1', port))) return port
  }
  throw new Error(`none of ${triesMax} ports from ${lowest} to ${highest} is free`)
}

async function isReserved(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  try {
    const listening = once(socket, 'listening')
    socket.bind({ port, address: '127.0.0.1', exclusive: true })
    await listening
  } catch {
    socket.close()
    return false
  }
  socket.unref()
  return true
}
