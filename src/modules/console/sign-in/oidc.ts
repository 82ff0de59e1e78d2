/**
 * The OIDC client: authorization code flow with PKCE, state and nonce
 * (https://openid.net/specs/openid-connect-core-1_0.html).
 */
import type { IncomingMessage } from 'node:http'
import type { Configuration } from 'openid-client'
import { Problem } from '../../../api/problem.ts'
import type { OidcSettings } from '../../../config/settings.ts'
import { isoTime, type SteadyClock } from '../../../lib/clock.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { Platform } from '../../../platform/platform.ts'
import { findUser, lockUser, type UserRow } from '../people/repository.ts'
import * as repository from './repository.ts'
import type { PendingIdentity } from './repository.ts'
import { requireProofSince, requireRecent, type Session } from './sessions.ts'

const timeoutS = 10
const foundForMs = 3600_000

/** Stored encrypted in the browser that started the flow. */
export interface OAuthFlow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Provider {
  begin(redirect_uri: string, again: boolean): Promise<{ readonly url: string; readonly flow: OAuthFlow }>
  /** Rejects on a mismatch of state, nonce, code or token, and if the provider is unreachable. */
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

// loaded on first use, to keep startup fast
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
  // defaults for providers without these metadata
  // (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata)
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

const pendingForMs = 10 * 60_000

/** null if it is not linked. */
export async function userOf(
  { pool }: Platform,
  { issuer, subject }: repository.PendingIdentity,
): Promise<UserRow | null> {
  const identity = await repository.findIdentity(pool, issuer, subject)
  return identity === null ? null : await findUser(pool, identity.user_id)
}

export const offer = async (
  { pool, clock }: Platform,
  session_id: string,
  pending: repository.PendingIdentity,
): Promise<void> => await repository.replacePending(pool, session_id, pending, isoTime(clock.now() + pendingForMs))

/** Throws `oauth_pending_expired`. */
export async function pendingOf(
  { pool, clock }: Platform,
  session: Session,
): Promise<repository.PendingIdentity & { readonly until: string }> {
  const pending = await repository.lockPending(pool, session.id, isoTime(clock.now()))
  if (pending === null) throw new Problem('oauth_pending_expired')
  return pending
}

/** Problems: `reauthentication_required`, `oauth_pending_expired`, `identity_exists`. */
export async function link(platform: Platform, sql: Db, session: Session): Promise<repository.IdentityRow> {
  const { clock, ids } = platform
  const at = isoTime(clock.now())
  return await transact(sql, async (tx) => {
    const pending = await repository.lockPending(tx, session.id, at)
    if (pending === null) throw new Problem('oauth_pending_expired')
    requireProofSince(platform, session, isoTime(Date.parse(pending.until) - pendingForMs))
    const { issuer, subject, email } = pending
    const row: repository.IdentityRow = {
      id: ids('idn'),
      user_id: session.user_id,
      issuer,
      subject,
      email,
      created_at: at,
    }
    await repository.replacePending(tx, session.id, null, null)
    if (await repository.insertIdentity(tx, row)) return row
    const known = await repository.findIdentity(tx, issuer, subject)
    if (known?.user_id !== session.user_id) throw new Problem('identity_exists')
    return known
  })
}

/** Throws `oauth_pending_expired`. */
export async function cancel(platform: Platform, session: Session): Promise<void> {
  await pendingOf(platform, session)
  await repository.replacePending(platform.pool, session.id, null, null)
}

/** Problems: `reauthentication_required`, `resource_missing`, `last_sign_in_method`. */
export async function unlink(platform: Platform, sql: Db, session: Session, id: string): Promise<void> {
  requireRecent(platform, session)
  await transact(sql, async (tx) => {
    const user = await lockUser(tx, session.user_id)
    const { oidc } = platform.settings
    const another = oidc !== undefined && (await repository.hasIdentity(tx, session.user_id, oidc.issuer, id))
    if (!(await repository.deleteIdentity(tx, session.user_id, id)))
      throw new Problem('resource_missing', 'None of your identities has this id. Reload the list.')
    if (user?.password_hash === null && !another) throw new Problem('last_sign_in_method')
  })
}

const validForMs = 10 * 60_000

export interface BegunFlow extends OAuthFlow {
  readonly next: string
  /** null when signing in. */
  readonly link: string | null
}

const isSecure = ({ settings }: Platform): boolean => settings.base_url.startsWith('https:')
const nameOf = (platform: Platform): string => (isSecure(platform) ? '__Secure-posthorn_oauth' : 'posthorn_oauth')
const attributes = (platform: Platform): string =>
  `Path=/console/api/oauth; HttpOnly; SameSite=Lax${isSecure(platform) ? '; Secure' : ''}`

export function oauthCookie(platform: Platform, flow: BegunFlow): string {
  const sealed = platform.secrets.seal(JSON.stringify({ ...flow, until: platform.clock.now() + validForMs }))
  return `${nameOf(platform)}=${encodeURIComponent(sealed)}; ${attributes(platform)}; Max-Age=${validForMs / 1000}`
}

export const noOAuthCookie = (platform: Platform): string => `${nameOf(platform)}=; ${attributes(platform)}; Max-Age=0`

export function flowOf(platform: Platform, { headers }: Pick<IncomingMessage, 'headers'>): BegunFlow | null {
  const begins = `${nameOf(platform)}=`
  const pair = (headers.cookie ?? '').split(';').find((part) => part.trim().startsWith(begins))
  if (pair === undefined) return null
  try {
    const flow = JSON.parse(
      platform.secrets.open(decodeURIComponent(pair.trim().slice(begins.length))),
    ) as BegunFlow & { readonly until: number }
    return flow.until > platform.clock.now() ? flow : null
  } catch {
    return null
  }
}
