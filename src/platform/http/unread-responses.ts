/** Limits responses that clients have not read: in bytes, in time, and per connection (behaviour: operating 8). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'

export interface UnreadLimits {
  readonly bytesMax: number
  /** In addition to the time that the rate allows. */
  readonly stallMs: number
  readonly bytesPerSecond: number
  readonly pipelinedMax: number
}

export const unreadLimits: UnreadLimits = {
  bytesMax: 64 * 1024 * 1024,
  stallMs: 60_000,
  bytesPerSecond: 16 * 1024,
  pipelinedMax: 32,
}

interface Waiting {
  readonly socket: Socket
  readonly bytes: number
}

export class UnreadResponses {
  readonly #clock: Clock
  readonly #limits: UnreadLimits
  /** Oldest first, with the bytes that no other response shares. */
  readonly #waiting = new Map<ServerResponse, Waiting>()
  readonly #pipelined = new WeakMap<Socket, number>()
  #bytes = 0

  constructor(clock: Clock, limits: UnreadLimits = unreadLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Disconnects a client that pipelines too many requests. */
  inOrder({ socket }: IncomingMessage, response: ServerResponse, respond: () => void): void {
    // Node continues to parse what it has read of a destroyed connection, up to a thousand requests
    if (socket.destroyed) return
    if (response.socket !== null) return respond()
    const pipelined = (this.#pipelined.get(socket) ?? 0) + 1
    this.#pipelined.set(socket, pipelined)
    if (pipelined > this.#limits.pipelinedMax) {
      socket.destroy()
      return
    }
    response.once('socket', () => {
      this.#pipelined.set(socket, this.#pipelined.get(socket)! - 1)
      // not within the event: Node still has to flush this response
      process.nextTick(respond)
    })
  }

  /** `shared`: other responses use the same buffer, so its bytes are not counted. */
  sent(response: ServerResponse, shared: boolean, streamed: boolean): void {
    const { socket } = response
    // the client has disconnected, and `close` was emitted already
    if (socket === null || response.closed || (socket.writableLength === 0 && !streamed)) return
    const bytes = shared ? 0 : socket.writableLength
    this.#waiting.set(response, { socket, bytes })
    this.#bytes += bytes
    const ended = new AbortController()
    response.once('close', () => {
      this.#forget(response)
      ended.abort()
    })
    void this.#closeIfStalled(socket, ended.signal)
    this.#evict(response)
  }

  async #closeIfStalled(socket: Socket, ended: AbortSignal): Promise<void> {
    const { stallMs, bytesPerSecond } = this.#limits
    for (let before = -1; !ended.aborted;) {
      if (socket.writableLength > 0 && socket.bytesWritten === before) {
        socket.destroy()
        return
      }
      before = socket.bytesWritten
      await this.#clock.sleep(stallMs + (socket.writableLength / bytesPerSecond) * 1000, ended)
    }
  }

  #evict(newest: ServerResponse): void {
    for (const [response, { socket, bytes }] of this.#waiting) {
      if (this.#bytes <= this.#limits.bytesMax || response === newest) return
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
