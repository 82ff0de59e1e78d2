/** Kept connections to many origins: taken and given back one by one, bounded for each origin and in number of origins. */
import { Client, type buildConnector } from 'undici'

/** A client is one connection, opened when it is needed and again when it was lost. */
export interface Connection {
  readonly origin: string
  readonly client: Client
  /** It has carried a request: the receiver may just have closed it. */
  used: boolean
}

export interface Connections {
  /** The connection used last, or a new one; with `fresh` a new one in any case. `free`: it may lead anywhere. */
  take(origin: string, free: boolean, fresh: boolean): Connection
  /** `whole`: its answer was read to the end, so that it is good for another request. */
  giveBack(connection: Connection, whole: boolean): void
  close(): Promise<void>
}

/** Unused connections kept for one origin. */
const idlePerOriginMax = 128
/** Origins whose connections are kept; the one that came first goes first. */
const originsMax = 1000
const keepAliveMs = 15_000

export function connections(connect: {
  guarded: buildConnector.connector
  free: buildConnector.connector
}): Connections {
  const idle = new Map<string, Connection[]>()
  const clients = new Set<Client>()
  const discard = ({ client }: Connection) => {
    clients.delete(client)
    client.destroy().catch(() => undefined) // it is gone either way
  }
  const idleOf = (origin: string): Connection[] => {
    let list = idle.get(origin)
    if (list !== undefined) return list
    if (idle.size >= originsMax) {
      const [oldest, forgotten] = idle.entries().next().value!
      idle.delete(oldest)
      for (const connection of forgotten) discard(connection)
    }
    idle.set(origin, (list = []))
    return list
  }
  return {
    take(origin, free, fresh) {
      const known = fresh ? undefined : idle.get(origin)?.pop()
      if (known !== undefined) return known
      const client = new Client(origin, {
        connect: free ? connect.free : connect.guarded,
        allowH2: false,
        pipelining: 1,
        keepAliveTimeout: keepAliveMs,
        headersTimeout: 0,
        bodyTimeout: 0,
        maxHeaderSize: 32 * 1024,
      })
      clients.add(client)
      return { origin, client, used: false }
    },
    giveBack(connection, whole) {
      connection.used = true
      const list = whole ? idleOf(connection.origin) : undefined
      if (list === undefined || list.length >= idlePerOriginMax) discard(connection)
      else list.push(connection)
    },
    async close() {
      await Promise.all([...clients].map((client) => client.destroy()))
      clients.clear()
      idle.clear()
    },
  }
}
