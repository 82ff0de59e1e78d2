/** Bounds the answers that clients do not read: one per connection, in bytes for all connections, and in time (behaviour: operating 8). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'

export interface UnreadBounds {
  /** Unread bytes that this process holds for all connections. */
  readonly bytesMax: number
  /** How long a client may read nothing, on top of the time that the rate allows. */
  readonly patienceMs: number
  /** The slowest rate at which a client may read. */
  readonly bytesPerSecond: number
  /** Pipelined requests that one connection may have waiting. */
  readonly aheadMax: number
}

export const unreadBounds: UnreadBounds = {
  bytesMax: 64 * 1024 * 1024,
  patienceMs: 60_000,
  bytesPerSecond: 16 * 1024,
  aheadMax: 32,
}

interface Waiting {
  readonly socket: Socket
  readonly bytes: number
}

export class UnreadAnswers {
  readonly #clock: Clock
  readonly #bounds: UnreadBounds
  /** Answers that were not sent completely yet, oldest first, with the bytes that no other answer shares. */
  readonly #waiting = new Map<ServerResponse, Waiting>()
  readonly #ahead = new WeakMap<Socket, number>()
  #bytes = 0

  constructor(clock: Clock, bounds: UnreadBounds = unreadBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Unread bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Calls `answer` once the earlier answers of the connection were sent: at once, unless the client pipelines. A client that pipelines more than
   * `aheadMax` requests loses its connection, and no waiting request is begun.
   */
  inTurn({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    // Node goes on to parse what it has read of the connection, up to a thousand requests, also after it was destroyed
    if (socket.destroyed) return
    if (response.socket !== null) return answer()
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

  /** Watches an answer that was just written to its connection. `shared`: other answers use the same buffer, so its bytes are not counted. */
  sent(response: ServerResponse, shared: boolean, streamed: boolean): void {
    const { socket } = response
    // the client has gone: nothing waits, and `close` was emitted already
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
    this.#evict(response)
  }

  /** Closes the connection when the client read nothing in the time that it is given. */
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

  /** Closes the connections that have waited longest until the unread bytes are within their bound. */
  #evict(newest: ServerResponse): void {
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
