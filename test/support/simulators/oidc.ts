/** An OpenID Connect provider: discovery, authorization code flow with PKCE, signed tokens. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { TestContext } from 'node:test'
import { simulatedHttp, type SimulatedRequest, type Odd, type Said } from './http.ts'

export interface OidcSimulator {
  readonly url: string
  readonly client_id: string
  readonly client_secret: string
  person: { readonly sub: string; readonly email?: string }
  claims: Readonly<Record<string, unknown>>
  readonly authorizations: URLSearchParams[]
  answerNext(...answers: Odd[]): void
}

interface Granted {
  readonly parameters: URLSearchParams
  readonly person: OidcSimulator['person']
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
})

/** RFC 6749 2.3.1: both are form-encoded first. */
const basicAuthorization = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${new URLSearchParams({ a: secret }).toString().slice(2)}`).toString('base64')}`

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

function redirectOf(parameters: URLSearchParams, code: string, iss: string): URL {
  const back = new URL(parameters.get('redirect_uri')!)
  // some providers return more than requested
  for (const [name, value] of Object.entries({
    code,
    state: parameters.get('state')!,
    iss,
    authuser: '0',
  }))
    back.searchParams.set(name, value)
  return back
}

export async function simulateOidc(t: TestContext): Promise<OidcSimulator> {
  const client_id = 'posthorn'
  const client_secret = 'oidc secret'
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, Granted>()
  const jwt = (claims: object): string => {
    const text = `${base64({ alg: 'RS256', kid: '1', typ: 'JWT' })}.${base64(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }
  const authorize = (parameters: URLSearchParams): Said => {
    simulator.authorizations.push(parameters)
    const code = randomBytes(16).toString('hex')
    codes.set(code, { parameters, person: simulator.person })
    const back = redirectOf(parameters, code, simulator.url)
    return { status: 302, headers: { location: back.href } }
  }
  const token = ({ headers, body }: SimulatedRequest): Said => {
    const form = new URLSearchParams(body.toString())
    const granted = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const wanted = basicAuthorization(client_id, client_secret)
    if (headers.authorization !== wanted) return { status: 401, body: { error: 'invalid_client' } }
    const challenge = challengeOf(form.get('code_verifier') ?? '')
    const right =
      granted?.parameters.get('code_challenge') === challenge &&
      granted.parameters.get('redirect_uri') === form.get('redirect_uri')
    if (!right) return { status: 400, body: { error: 'invalid_grant' } }
    const now = Math.floor(Date.now() / 1000)
    const nonce = granted.parameters.get('nonce')
    const id_token = jwt({
      iss: simulator.url,
      aud: client_id,
      iat: now,
      exp: now + 300,
      nonce,
      ...granted.person,
      ...simulator.claims,
    })
    return { body: { access_token: randomBytes(8).toString('hex'), token_type: 'Bearer', id_token } }
  }
  const http = await simulatedHttp(t, (request) => {
    if (request.path === '/.well-known/openid-configuration') return { body: metadataOf(simulator.url) }
    if (request.path === '/jwks')
      return { body: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }] } }
    if (request.path === '/authorize') return authorize(request.query)
    return request.path === '/token' ? token(request) : { status: 404 }
  })
  const simulator: OidcSimulator = {
    url: http.url,
    client_id,
    client_secret,
    person: { sub: 'u1' },
    claims: {},
    authorizations: [],
    answerNext: http.answerNext,
  }
  return simulator
}
