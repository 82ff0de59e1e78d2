/** Authenticates a request by its key (behaviour: authentication 3). */
import type { IncomingMessage } from 'node:http'
import type { Caller, Tenant } from '../../api/caller.ts'
import type { Id } from '../../api/ids.ts'
import { Problem } from '../../api/problem.ts'
import type { Scope } from '../../api/scopes.ts'
import type { TraceContext } from '../../lib/trace-context.ts'
import { clientAddress, timesGiven, type AddressList } from './headers.ts'

export interface KeyFacts extends Tenant {
  readonly account_name: string
  /** For a source key the id of its source. */
  readonly key_id: Id<'key' | 'src'>
  readonly key_name: string
  readonly scopes: readonly Scope[]
  /** Milliseconds since 1970; null: never. */
  readonly expires_at: number | null
  readonly revoked: boolean
  readonly suspended: boolean
  readonly allowlist: AddressList | null
  readonly source_status: 'active' | 'disabled' | null
}

export type FindKey = (text: string) => KeyFacts | null | Promise<KeyFacts | null>

/** Throws `api_key_missing`, and `api_key_invalid` for two headers. */
export function bearerOf(request: IncomingMessage): string {
  if (timesGiven(request, 'authorization') > 1)
    throw new Problem('api_key_invalid', 'The header Authorization occurs more than once. Send it once.')
  const header = request.headers.authorization
  if (header === undefined || header.length < 7 || header.slice(0, 7).toLowerCase() !== 'bearer ')
    throw keyMissing(request)
  const text = header.slice(7).trim()
  if (text === '') throw keyMissing(request)
  return text
}

const rightHeader = 'Send the header Authorization: Bearer <API_KEY>.'

/** The key is never repeated. */
function keyMissing({ headers }: IncomingMessage): Problem {
  const { authorization } = headers
  const words = authorization === undefined ? sentAside(headers) : wrongScheme(authorization)
  return new Problem('api_key_missing', words === undefined ? undefined : `${words} ${rightHeader}`)
}

const sentAside = (headers: IncomingMessage['headers']): string | undefined =>
  headers['x-api-key'] === undefined ? undefined : 'The API key was sent as X-API-Key, which is not read.'

function wrongScheme(authorization: string): string | undefined {
  if (/^basic /i.test(authorization))
    return 'The header Authorization holds Basic credentials, which are not read: API keys are sent as Bearer.'
  if (/^svc_[a-z]+_/.test(authorization))
    return 'The header Authorization holds the API key alone: the word Bearer and a space belong before it.'
  return /^bearer/i.test(authorization)
    ? 'The header Authorization says Bearer without an API key behind it, parted by a space.'
    : undefined
}

const sourceKeyElsewhere =
  'This is a source key, which is good for the operations on its own source alone. Call this one with an API key.'

/** A source key is valid only for the operations made for it. */
export function admit(
  key: KeyFacts | null,
  forSources: boolean,
  request: IncomingMessage,
  now: number,
  isTrusted: AddressList,
): asserts key is KeyFacts {
  if (key === null) throw new Problem('api_key_invalid')
  if (key.source_status !== null && !forSources) throw new Problem('api_key_invalid', sourceKeyElsewhere)
  if (key.revoked) throw new Problem('api_key_revoked')
  if (key.expires_at !== null && key.expires_at <= now) throw new Problem('api_key_expired')
  if (key.suspended) throw new Problem('account_suspended')
  if (key.allowlist !== null && !key.allowlist(clientAddress(request, isTrusted))) throw new Problem('ip_not_allowed')
}

export const callerOf = (key: KeyFacts, request_id: Id<'req'>, trace?: TraceContext): Caller => ({
  account_id: key.account_id,
  mode: key.mode,
  account_name: key.account_name,
  key_id: key.key_id,
  key_name: key.key_name,
  user_id: null,
  scopes: key.scopes,
  request_id,
  trace,
})
