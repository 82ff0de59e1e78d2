/** What is asked of a write of contacts, and what comes of it, item by item. */
import type { ConsentSource } from '../../api/resources/contact.ts'
import type { ConsentTransition, ContactChange, ContactRow } from './contact.ts'
import type { AddressKey } from './addresses.ts'

export interface SaveItem {
  /**
   * `create` refuses known addresses; `upsert` finds the contact by `change.phone` (without one by its identifiers);
   * `update` by `id`; `link` by `key`, and creates the contact from `creation`.
   */
  readonly kind: 'create' | 'upsert' | 'update' | 'link'
  readonly id?: string
  readonly key?: AddressKey
  readonly change: ContactChange
  readonly creation?: ContactChange
  /** ISO 8601: the contact wrote to us then. */
  readonly seen_at?: string
  /** The inbound message behind changes of consent. */
  readonly message_id?: string
}

/** A change of consent with the inbound message behind it, and the request where it is not the one in hand. */
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
      /** Consents, `<type>.marketing` for marketing alone, that the item asked for and an opt-out stood against. */
      readonly refused_opt_ins: readonly string[]
    }
  /** Nothing of the item was done. `param` is the field at fault. */
  | {
      readonly outcome: 'refused'
      readonly reason: RefusalReason
      readonly param: string
      readonly contact_id?: string
    }

export interface SaveContext {
  /** ISO 8601. */
  readonly at: string
  /** The source of consents that name none. */
  readonly source: ConsentSource
  readonly request_id?: string
  /** Bulk sources (imports, events) never lift an opt-out, not even by saying `opted_in`. */
  readonly keep_opt_outs?: boolean
  /** Tags and attributes beyond what a known contact can hold are left out; otherwise their item is refused. */
  readonly drop_excess?: boolean
  /** Upserts that are expected to meet no known address: none is looked up, and `WriteConflict` thrown when there may be one. */
  readonly expect_new?: boolean
}
