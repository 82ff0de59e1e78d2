/** How a server stops without refusing a request that was sent: clients are told to go, and the listener closes when nobody is about to come (behaviour: operating 4). */
import type { Server } from 'node:http'
import { Server as Listener } from 'node:net'
import type { Clock, SteadyClock } from '../../lib/clock.ts'
import type { Connections } from './connections.ts'

/** How long the listener stays open, while each answer asks its client to go elsewhere. */
const windowMs = 500
/** After the signal, how long an idle connection stays open for its next request. */
const idleWithinMs = 2_000
/** After the signal, how long clients may take to send the rest of their requests. */
const finishWithinMs = 5_000
/** The listener closes once nobody has connected for this long, or after so many tries; clients on a busy machine may take a while to come. */
const quietMs = 100
const quietTriesMax = 5
/** A turn of the event loop that took no longer had nothing else to do but look for connections. */
const shortTurnMs = 0.05
/** Nobody waits for such a turn any longer: what is held has to be answered. */
const shortTurnWithinMs = 200

/** Resolves once no connection is open any more. `server` keeps what else it has to close. */
export async function stopListening(server: Server, connections: Connections, clock: SteadyClock): Promise<void> {
  if (!server.listening) return
  const ended = new AbortController()
  const started = clock.elapsed()
  const noneOpen = connections.none.bind(connections)
  const until = (ms: number) => clock.sleep(started + ms - clock.elapsed(), ended.signal)
  connections.close()
  await until(windowMs)
  await closeListener(server, connections, clock)
  try {
    await Promise.race([noneOpen(), until(idleWithinMs)])
    await turn() // a request that has arrived is read first
    connections.closeIdle()
    await Promise.race([noneOpen(), until(finishWithinMs)])
    connections.closeAll()
  } finally {
    ended.abort()
  }
}

/**
 * Closes the listener alone. The system resets what has connected and was not accepted, so it closes at a moment when nobody connects: clients that wait for
 * an answer do not, so what they ask is held for that moment.
 */
async function closeListener(server: Server, connections: Connections, clock: Clock): Promise<void> {
  connections.hold()
  for (let tries = 0, before = -1; tries < quietTriesMax && before !== connections.admitted; tries++) {
    before = connections.admitted
    await clock.sleep(quietMs)
  }
  await quietTurn(connections)
  // that of HTTP would end idle connections as well, and look for slow requests no more
  Listener.prototype.close.call(server)
  connections.release()
}

/** Resolves right after the event loop has looked for connections, and there was none: it accepts one a turn. */
async function quietTurn(connections: Connections): Promise<void> {
  const began = performance.now()
  for (let turns = 0, at = began; at - began < shortTurnWithinMs; turns++) {
    const before = connections.admitted
    at = performance.now()
    await turn()
    if (turns > 0 && before === connections.admitted && performance.now() - at < shortTurnMs) return
  }
}

/** Resolves once the event loop has looked for what arrived. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
