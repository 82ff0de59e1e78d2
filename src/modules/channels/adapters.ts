/** Creates the adapters of all providers. */
import type { SteadyClock } from '../../lib/clock.ts'
import { dialer, type Resolve } from '../../lib/sockets.ts'
import { httpClient } from '../../lib/http-client.ts'
import { hostPort } from '../../lib/public-address.ts'
import type { ProviderAdapter, Provider, ProviderTools } from '../../providers/provider.ts'
import { withRedactedSecrets } from './secret-redaction.ts'
import { providers as productProviders } from '../../providers/registry.ts'

export interface Adapters {
  providerOf(name: string): Provider | undefined
  adapterOf(name: string): ProviderAdapter | undefined
  connectable(type: string, testing: boolean): readonly Provider[]
  readonly sessionProviders: readonly string[]
  sendsThroughSession(name: string): boolean
  offered(testing: boolean): readonly Provider[]
  close(): Promise<void>
}

export interface AdapterParts {
  readonly clock: SteadyClock
  readonly resolve: Resolve
  readonly provider_urls: Readonly<Record<string, string>>
  /** `host:port`s that may be called even if they are private or not https. */
  readonly allowed_hosts: readonly string[]
  readonly ca?: string
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
      { provider, adapter: withRedactedSecrets(provider, provider.adapter(toolsFor(provider))) },
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
