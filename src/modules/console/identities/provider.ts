/** The OIDC provider as a client sees it: the authorization code flow with PKCE, state and nonce (https://openid.net/specs/openid-connect-core-1_0.html). */
import type { Configuration } from 'openid-client'
import type { SteadyClock } from '../../../lib/clock.ts'
import type { OidcSettings } from '../../../config/settings.ts'
import type { PendingIdentity } from './store.ts'

const timeoutS = 10
const foundForMs = 3600_000

/** What one flow to the provider and back holds; nobody but the browser that began it has it, sealed. */
export interface OAuthFlow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Provider {
  /** Where the browser goes; `again`: the provider asks for the password although it knows the browser. */
  begin(redirect_uri: string, again: boolean): Promise<{ readonly url: string; readonly flow: OAuthFlow }>
  /** Who came back to `url`. Rejects where state, nonce, code or token do not fit, and where the provider is out of reach. */
  finish(url: URL, flow: OAuthFlow): Promise<PendingIdentity>
}

export function oidcProvider(settings: OidcSettings, clock: Pick<SteadyClock, 'elapsed'>): Provider {
  let found: { readonly configuration: Promise<Configuration>; readonly at: number } | undefined
  const configuration = async (): Promise<Configuration> => {
    if (found === undefined || clock.elapsed() - found.at > foundForMs)
      found = { configuration: discover(settings), at: clock.elapsed() }
    const { configuration: wanted } = found
    return await wanted.catch((error: unknown) => {
      found = undefined
      throw error
    })
  }
  return {
    async begin(redirect_uri, again) {
      const client = await load()
      const flow: OAuthFlow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri,
        scope: 'openid email profile',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
        ...(again ? { prompt: 'login' } : {}),
      })
      return { url: url.href, flow }
    },
    async finish(url, { state, nonce, verifier }) {
      const client = await load()
      const tokens = await client.authorizationCodeGrant(await configuration(), url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
      })
      const claims = tokens.claims()!
      return {
        issuer: settings.issuer,
        subject: claims.sub,
        email: typeof claims['email'] === 'string' ? claims['email'].slice(0, 254) : null,
      }
    },
  }
}

// loaded for the first who signs in so: no start needs it
const load = async () => await import('openid-client')

async function discover({ issuer, client_id, client_secret }: OidcSettings): Promise<Configuration> {
  const client = await load()
  const address = new URL(issuer)
  const plain = address.protocol === 'http:' ? [client.allowInsecureRequests] : []
  const found = await client.discovery(address, client_id, client_secret, undefined, {
    execute: plain,
    timeout: timeoutS,
  })
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported
  if (methods?.includes('client_secret_post') === true) return found
  // what a provider supports that says nothing (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata)
  const basic = new client.Configuration(
    found.serverMetadata(),
    client_id,
    client_secret,
    client.ClientSecretBasic(client_secret),
  )
  basic.timeout = timeoutS
  for (const allow of plain) allow(basic)
  return basic
}
