/** The items of a write of contacts, and their results. */
import type { ConsentSource } from '../../api/resources/contact.ts'
import type { ConsentTransition, ContactChange, ContactRow } from './contact.ts'
import type { AddressKey } from './addresses.ts'

export interface SaveItem {
  /**
   * `create` refuses known addresses; `upsert` finds the contact by `change.phone`, else by its identifiers; `link` by
   * `key`, or creates it from `creation`.
   */
  readonly kind: 'create' | 'upsert' | 'update' | 'link'
  readonly id?: string
  readonly key?: AddressKey
  readonly change: ContactChange
  readonly creation?: ContactChange
  /** When the contact wrote to us. */
  readonly seen_at?: string
  readonly message_id?: string
}

export type CausedTransition = ConsentTransition & {
  readonly message_id: string | null
  readonly request_id?: string | null
}

export type RefusalReason =
  | 'contact_exists'
  | 'contact_limit_reached'
  | 'resource_missing'
  | 'address_missing'
  | 'too_many_tags'
  | 'too_many_attributes'

export type SaveResult =
  | {
      readonly outcome: 'created' | 'updated' | 'unchanged'
      readonly row: ContactRow
      readonly transitions: readonly CausedTransition[]
      /** Overridden by an existing opt-out; `<type>.marketing` for marketing alone. */
      readonly refused_opt_ins: readonly string[]
    }
  | {
      readonly outcome: 'refused'
      readonly reason: RefusalReason
      readonly param: string
      readonly contact_id?: string
    }

export interface SaveContext {
  readonly at: string
  readonly source: ConsentSource
  readonly request_id?: string
  readonly keep_opt_outs?: boolean
  /** Instead of refusing the item. */
  readonly drop_excess?: boolean
  /** Owners are not looked up; a `WriteConflict` is thrown if an address has one. */
  readonly expect_new?: boolean
}
