/** Stops the server without losing requests (behaviour: operating 4). */
import type { Server } from 'node:http'
import { Server as Listener } from 'node:net'
import type { Clock, SteadyClock } from '../../lib/clock.ts'
import type { Connections } from './connections.ts'

/** Until then, each response closes its connection. */
const windowMs = 500
/** For the next request of an idle connection. */
const idleWithinMs = 2_000
/** For the rest of requests. */
const finishWithinMs = 5_000
/** The listener closes once nobody has connected for this long, or after this many tries. */
const quietMs = 100
const quietTriesMax = 5
/** A turn this short only polled for connections. */
const shortTurnMs = 0.05
const shortTurnWithinMs = 200

export async function stopListening(server: Server, connections: Connections, clock: SteadyClock): Promise<void> {
  if (!server.listening) return
  const ended = new AbortController()
  const started = clock.elapsed()
  const allClosed = connections.whenAllClosed.bind(connections)
  const until = (ms: number) => clock.sleep(started + ms - clock.elapsed(), ended.signal)
  connections.close()
  await until(windowMs)
  await closeListener(server, connections, clock)
  try {
    await Promise.race([allClosed(), until(idleWithinMs)])
    await turn() // read requests that have arrived
    connections.closeIdle()
    await Promise.race([allClosed(), until(finishWithinMs)])
    connections.closeAll()
  } finally {
    ended.abort()
  }
}

/** The kernel resets connections that were not accepted yet, so this waits for a quiet moment. */
async function closeListener(server: Server, connections: Connections, clock: Clock): Promise<void> {
  connections.hold()
  for (let tries = 0, before = -1; tries < quietTriesMax && before !== connections.admitted; tries++) {
    before = connections.admitted
    await clock.sleep(quietMs)
  }
  await quietTurn(connections)
  // the HTTP server's close would also end idle connections and stop the request timeouts
  Listener.prototype.close.call(server)
  connections.release()
}

/** The event loop accepts one connection per turn. */
async function quietTurn(connections: Connections): Promise<void> {
  const began = performance.now()
  for (let turns = 0, at = began; at - began < shortTurnWithinMs; turns++) {
    const before = connections.admitted
    at = performance.now()
    await turn()
    if (turns > 0 && before === connections.admitted && performance.now() - at < shortTurnMs) return
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
