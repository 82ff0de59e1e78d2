/** The caller of an authenticated request. */
import type { TraceContext } from '../lib/trace-context.ts'
import type { Id } from './ids.ts'
import type { Scope } from './scopes.ts'

export type Mode = 'live' | 'test'

/** Every query on tenant data names both. */
export interface Tenant {
  readonly account_id: Id<'acc'>
  readonly mode: Mode
}

export const tenantOf = ({
  account_id,
  mode,
}: {
  readonly account_id: string
  readonly mode: Tenant['mode']
}): Tenant => ({
  account_id: account_id as Tenant['account_id'],
  mode,
})

export interface Caller extends Tenant {
  readonly account_name: string
  /** For a source key the id of its source; null for a user of the console. */
  readonly key_id: Id<'key' | 'src'> | null
  readonly key_name: string
  /** null for a program with a key. */
  readonly user_id: Id<'usr'> | null
  readonly scopes: readonly Scope[]
  readonly request_id: Id<'req'>
  readonly trace?: TraceContext | undefined
}

/** The author of a resource. */
export type Actor = { readonly type: 'api_key' | 'user'; readonly id: string }

export const actorOf = ({ key_id, user_id }: Pick<Caller, 'key_id' | 'user_id'>): Actor =>
  user_id === null ? { type: 'api_key', id: key_id! } : { type: 'user', id: user_id }
