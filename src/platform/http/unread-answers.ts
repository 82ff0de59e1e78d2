/** Answers that their clients do not read: one for each connection, few bytes in all, and not for ever (behaviour: operating 8). */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'

export interface UnreadBounds {
  /** Bytes that wait in this process for clients to read them. */
  readonly bytesMax: number
  /** How long a client may read nothing, beyond what the rate allows for. */
  readonly patienceMs: number
  /** The slowest at which an answer is read. */
  readonly bytesPerSecond: number
  /** Requests that one connection may send ahead of its answers. */
  readonly aheadMax: number
}

export const unreadBounds: UnreadBounds = {
  bytesMax: 64 * 1024 * 1024,
  patienceMs: 60_000,
  bytesPerSecond: 16 * 1024,
  aheadMax: 32,
}

/** What Node's parser takes for "this connection speaks another protocol from here on": it leaves the rest of what it was given alone. */
const readNoFurther = 2

interface Parser {
  onIncoming?: (request: IncomingMessage, keepAlive: boolean) => number
}

/**
 * Reads nothing more of a connection that was ended. Node reads 64 KB at a time, and would make a request of each of the thousand that they may hold, also
 * after the connection was destroyed.
 */
export function readNothingAfterTheEnd(server: Server): void {
  server.on('connection', (socket: Socket & { parser?: Parser }) => {
    const { parser } = socket
    const onIncoming = parser?.onIncoming
    if (onIncoming !== undefined)
      parser!.onIncoming = (request, keepAlive) => (socket.destroyed ? readNoFurther : onIncoming(request, keepAlive))
  })
}

interface Waiting {
  readonly socket: Socket
  readonly bytes: number
}

/** Bounds what the clients of a server do not read. */
export function unreadAnswers(server: Server, clock: Clock): UnreadAnswers {
  readNothingAfterTheEnd(server)
  return new UnreadAnswers(clock)
}

export class UnreadAnswers {
  readonly #clock: Clock
  readonly #bounds: UnreadBounds
  /** Answers that were not taken whole yet, with the bytes that they alone need; the oldest first. */
  readonly #waiting = new Map<ServerResponse, Waiting>()
  readonly #ahead = new WeakMap<Socket, number>()
  #bytes = 0

  constructor(clock: Clock, bounds: UnreadBounds = unreadBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Bytes that wait for clients. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Calls `answer` once the answers to earlier requests of the connection have been taken: at once, but where a client sends ahead. One that sends
   * further ahead than it may loses its connection, and none of what is waiting is begun.
   */
  inTurn({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    if (response.socket !== null) return answer()
    if (socket.destroyed) return
    const ahead = (this.#ahead.get(socket) ?? 0) + 1
    this.#ahead.set(socket, ahead)
    if (ahead > this.#bounds.aheadMax) {
      socket.destroy()
      return
    }
    response.once('socket', () => {
      this.#ahead.set(socket, this.#ahead.get(socket)! - 1)
      // not within the event: Node still has to flush what it holds of this answer
      process.nextTick(answer)
    })
  }

  /** Looks after an answer right after it was given to its connection. `shared`: its bytes serve others too, and are not counted. */
  sent(response: ServerResponse, shared: boolean, streamed: boolean): void {
    const { socket } = response
    // of one whose client has gone nothing waits, and its end has been told already
    if (socket === null || response.closed || (socket.writableLength === 0 && !streamed)) return
    const bytes = shared ? 0 : socket.writableLength
    this.#waiting.set(response, { socket, bytes })
    this.#bytes += bytes
    const ended = new AbortController()
    response.once('close', () => {
      this.#forget(response)
      ended.abort()
    })
    void this.#expect(socket, ended.signal)
    this.#makeRoom(response)
  }

  /** Ends the connection when nothing more of its answer was taken in the time that it may need. */
  async #expect(socket: Socket, ended: AbortSignal): Promise<void> {
    const { patienceMs, bytesPerSecond } = this.#bounds
    for (let before = -1; !ended.aborted;) {
      if (socket.writableLength > 0 && socket.bytesWritten === before) {
        socket.destroy()
        return
      }
      before = socket.bytesWritten
      await this.#clock.sleep(patienceMs + (socket.writableLength / bytesPerSecond) * 1000, ended)
    }
  }

  /** Ends the connections that have waited for longest until what waits is within its bound. */
  #makeRoom(newest: ServerResponse): void {
    for (const [response, { socket, bytes }] of this.#waiting) {
      if (this.#bytes <= this.#bounds.bytesMax || response === newest) return
      if (bytes === 0) continue
      socket.destroy()
      this.#forget(response)
    }
  }

  #forget(response: ServerResponse): void {
    this.#bytes -= this.#waiting.get(response)?.bytes ?? 0
    this.#waiting.delete(response)
  }
}
