/** Who is behind a request, once authentication has passed. */
import type { Id } from './ids.ts'
import type { Scope } from './scopes.ts'

export type Mode = 'live' | 'test'

/** Every query on tenant data takes these two. */
export interface Tenant {
  readonly account_id: Id<'acc'>
  readonly mode: Mode
}

/** Whose a row is. */
export const tenantOf = ({ account_id, mode }: { readonly account_id: string; readonly mode: Tenant['mode'] }): Tenant => ({
  account_id: account_id as Tenant['account_id'],
  mode,
})

export interface Caller extends Tenant {
  readonly account_name: string
  /** Of a source key the id of its source. */
  readonly key_id: Id<'key' | 'src'>
  readonly key_name: string
  readonly scopes: readonly Scope[]
  readonly request_id: Id<'req'>
}
