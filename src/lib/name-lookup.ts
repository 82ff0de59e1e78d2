/** Resolves host names for sockets: first over DNS without blocking threads, then the way the operating system does, a few at a time. */
import { lookup as systemLookup, Resolver } from 'node:dns'

export interface NetworkAddress {
  readonly address: string
  readonly family: number
}

/** Resolves a name to at least one address, or rejects with an error that has a `code`. Injected by tests. */
export type Resolve = (hostname: string) => Promise<readonly NetworkAddress[]>

/** getaddrinfo blocks a thread of a small pool while it waits, so one dead name server must not take them all. */
const systemLookupsMax = 2

/** The resolver of production. Each name server is asked twice, `timeout_ms` long. */
export function nameResolver(timeout_ms = 2000): Resolve {
  const resolver = new Resolver({ timeout: timeout_ms, tries: 2 })
  const system = bounded(systemLookupsMax)
  return async (hostname) => {
    const [v4, v6] = await Promise.all([ask(resolver, hostname, 4), ask(resolver, hostname, 6)])
    const found = [...v4.addresses, ...v6.addresses]
    if (found.length > 0) return found
    // A name server that does not answer will not answer getaddrinfo either; only "no such name" may be in the hosts file.
    if (v4.code === 'ETIMEOUT' || v6.code === 'ETIMEOUT')
      throw Object.assign(new Error(`the name servers did not answer for ${hostname}`), { code: 'ETIMEOUT' })
    return system(() => systemAddresses(hostname))
  }
}

function ask(
  resolver: Resolver,
  hostname: string,
  family: 4 | 6,
): Promise<{ addresses: NetworkAddress[]; code?: string }> {
  return new Promise((resolve) => {
    const done = (error: NodeJS.ErrnoException | null, addresses: string[] | undefined) =>
      resolve(
        error === null
          ? { addresses: (addresses ?? []).map((address) => ({ address, family })) }
          : { addresses: [], code: error.code ?? 'ENOTFOUND' },
      )
    if (family === 4) resolver.resolve4(hostname, done)
    else resolver.resolve6(hostname, done)
  })
}

function systemAddresses(hostname: string): Promise<NetworkAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })
}

/** Runs at most `slots` works at once; the others wait their turn. */
function bounded(slots: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = slots
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free === 0) await new Promise<void>((resume) => waiting.push(resume))
    else free -= 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
