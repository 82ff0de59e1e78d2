/** Authentication of a request (behaviour: authentication 3): whose key it carries, and whether that key may call now. */
import type { IncomingMessage } from 'node:http'
import type { Caller, Tenant } from '../../contract/caller.ts'
import type { Id } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Scope } from '../../contract/scopes.ts'
import { clientAddress, type AddressList } from './client-address.ts'
import { timesGiven } from './repeated-headers.ts'

/** An API key or a source key, as authentication sees it. */
export interface KeyFacts extends Tenant {
  readonly account_name: string
  /** Of a source key the id of its source. */
  readonly key_id: Id<'key' | 'src'>
  readonly key_name: string
  readonly scopes: readonly Scope[]
  /** Milliseconds since 1970, null for never. */
  readonly expires_at: number | null
  readonly revoked: boolean
  readonly suspended: boolean
  /** null: from everywhere. */
  readonly allowlist: AddressList | null
  /** Of the source whose key it is; null for an API key. */
  readonly source_status: 'active' | 'disabled' | null
}

/** Finds the key of a text: at once from memory, else from the database. null: no such key. */
export type FindKey = (text: string) => KeyFacts | null | Promise<KeyFacts | null>

/** The text of the API key in a request's Authorization header. Throws `api_key_missing`, and `api_key_invalid` where there are two of them. */
export function bearerOf(request: IncomingMessage): string {
  if (timesGiven(request, 'authorization') > 1) throw new Problem('api_key_invalid', 'The header Authorization is given more than once. Give it once.')
  const header = request.headers.authorization
  if (header === undefined || header.length < 7 || header.slice(0, 7).toLowerCase() !== 'bearer ') throw new Problem('api_key_missing')
  const text = header.slice(7).trim()
  if (text === '') throw new Problem('api_key_missing')
  return text
}

const sourceKeyElsewhere = 'This is a source key, which is good for the operations on its own source alone. Call this one with an API key.'

/** Throws the refusal of a key that may not call now, or not from there. A source key is good for the operations that are made for one, and no key elsewhere. */
export function admit(key: KeyFacts | null, forSources: boolean, request: IncomingMessage, now: number, isTrusted: AddressList): asserts key is KeyFacts {
  if (key === null) throw new Problem('api_key_invalid')
  if (key.source_status !== null && !forSources) throw new Problem('api_key_invalid', sourceKeyElsewhere)
  if (key.revoked) throw new Problem('api_key_revoked')
  if (key.expires_at !== null && key.expires_at <= now) throw new Problem('api_key_expired')
  if (key.suspended) throw new Problem('account_suspended')
  if (key.source_status === 'disabled') throw new Problem('source_disabled')
  if (key.allowlist !== null && !key.allowlist(clientAddress(request, isTrusted))) throw new Problem('ip_not_allowed')
}

/** Who calls. */
export const callerOf = (key: KeyFacts, request_id: Id<'req'>): Caller => ({
  account_id: key.account_id,
  mode: key.mode,
  account_name: key.account_name,
  key_id: key.key_id,
  key_name: key.key_name,
  scopes: key.scopes,
  request_id,
})
