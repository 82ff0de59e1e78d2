/** Tools of adapters in tests: local sockets and a test clock. */
import type { ProviderTools } from '../../src/providers/provider.ts'
import type { SteadyClock } from '../../src/lib/clock.ts'
import { dialer } from '../../src/lib/sockets.ts'
import { httpClient } from '../../src/lib/http-client.ts'
import { hostPort } from '../../src/lib/public-address.ts'
import { fakeClock } from './clock.ts'

export interface ToolOptions {
  readonly clock?: SteadyClock
  readonly url?: string
  readonly allowed_hosts?: readonly string[]
  readonly ca?: string
}

export function providerTools({
  clock = fakeClock(),
  url = '',
  allowed_hosts = [],
  ca,
}: ToolOptions = {}): ProviderTools {
  const options = {
    clock,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...(ca === undefined ? {} : { ca }),
    allowed_hosts: [...allowed_hosts, ...(url === '' ? [] : [hostPort(new URL(url))])],
  }
  return { clock, http: httpClient(options), dial: dialer(options), url }
}
