/** Makes the adapters of all providers, each with what it calls its provider with. */
import type { SteadyClock } from '../../lib/clock.ts'
import { dialer } from '../../lib/dial.ts'
import { httpClient } from '../../lib/http-client.ts'
import type { Resolve } from '../../lib/name-lookup.ts'
import { hostPort } from '../../lib/public-address.ts'
import type { ProviderAdapter, Provider, ProviderTools } from '../../providers/provider.ts'
import { hidingSecrets } from './hidden-secrets.ts'
import { providers as productProviders } from '../../providers/registry.ts'

export interface Adapters {
  /** A provider by its name, or undefined for one that is not built. */
  providerOf(name: string): Provider | undefined
  /** What it does. */
  adapterOf(name: string): ProviderAdapter | undefined
  /** Providers that a channel may be connected with. `testing`: those that are for tests alone, too. */
  connectable(type: string, testing: boolean): readonly Provider[]
  /** The names of those that open sessions. */
  readonly sessionProviders: readonly string[]
  /** Whether hand-overs to it go through a session alone. */
  sendsThroughSession(name: string): boolean
  /** All of them, that of test mode excepted. */
  offered(testing: boolean): readonly Provider[]
  /** Closes the connections of all. */
  close(): Promise<void>
}

export interface AdapterParts {
  readonly clock: SteadyClock
  readonly resolve: Resolve
  /** Addresses of providers by the names of their settings; absent: their own. */
  readonly provider_urls: Readonly<Record<string, string>>
  /** `host:port`s that may be called whatever their address and scheme. */
  readonly allowed_hosts: readonly string[]
  /** Certificates to trust besides the system's; for tests. */
  readonly ca?: string
  /** Those of tests, beside the product's. */
  readonly providers?: readonly Provider[]
}

export function makeAdapters(parts: AdapterParts): Adapters {
  const providers = [...productProviders, ...(parts.providers ?? [])]
  const urls = new Map(
    providers.map(({ name, url }) => [
      name,
      url === undefined ? '' : (parts.provider_urls[url.setting] ?? url.fallback),
    ]),
  )
  const allowed_hosts = [
    ...parts.allowed_hosts,
    ...[...urls.values()].filter((url) => url !== '').map((url) => hostPort(new URL(url))),
  ]
  const http = httpClient({ ...parts, allowed_hosts })
  const dial = dialer({ ...parts, allowed_hosts })
  const toolsFor = ({ name }: Provider): ProviderTools => ({ clock: parts.clock, http, dial, url: urls.get(name)! })
  const byName = new Map(
    providers.map((provider) => [
      provider.name,
      { provider, adapter: hidingSecrets(provider, provider.adapter(toolsFor(provider))) },
    ]),
  )
  const sessionProviders = [...byName].flatMap(([name, { adapter }]) =>
    adapter.openSession === undefined ? [] : [name],
  )
  const throughSession = new Set(sessionProviders.filter((name) => byName.get(name)!.adapter.send === undefined))
  const offered = (testing: boolean) =>
    providers.filter((provider) => provider.offered === 'always' || (provider.offered === 'for_tests' && testing))
  return {
    offered,
    sessionProviders,
    sendsThroughSession: (name) => throughSession.has(name),
    providerOf: (name) => byName.get(name)?.provider,
    adapterOf: (name) => byName.get(name)?.adapter,
    connectable: (type, testing) => offered(testing).filter(({ types }) => (types as readonly string[]).includes(type)),
    close: () => http.close(),
  }
}
