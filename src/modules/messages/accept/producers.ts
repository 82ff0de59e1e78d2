/**
 * Producers insert messages for rows of their own, such as campaign recipients. Each adds a precondition and a
 * consequence to the statement that accepts; modules contribute them. Requests with an Idempotency-Key are a built-in
 * producer (docs/decisions/producers.md).
 */
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import { freeKeys, keepKeys, keyColumns, keysAgree } from '../../../platform/http/idempotency-store.ts'
import type { Moment } from './row.ts'
import type { Unit } from './submission.ts'

/** A row that could not be claimed. */
export interface MissedRow {
  readonly n: number
  readonly account_id: string
  readonly mode: string
  readonly submission_key: string | null
}

/** SQL that a producer adds to both ways of accepting. */
export interface ProducerFragment {
  /** Lower-case letters and underscores. A batch holds submissions of one kind. */
  readonly kind: string
  /** Text columns that its submissions add to the key of each item (`Alongside.values`). */
  readonly columns: readonly string[]
  /**
   * The precondition: a sub-select that yields a row where the row `i` (n, account_id, mode, submission_key, and
   * `columns`) may become a message. It claims the producer's own row with `for update skip locked` where that is still
   * pending and has no message. It must not wait, because wallets are locked after it.
   */
  held(sql: Db, moment: Moment): Fragment
  /**
   * The consequence: one statement that writes the outcomes in `submitted` (n, account_id, mode, key, message_id, code,
   * value, and `columns`) and returns the `message_id` of the rows it wrote. Where `code` is set, `message_id` is null:
   * recipient_blocked, policy_violation and parameter_invalid are final, insufficient_balance leaves the row pending.
   * Rows that were not claimed are not in it.
   */
  settle(sql: Db, moment: Moment): Fragment
  /**
   * A condition on `submitted` and `settled` (the result of `settle`). Where it is false, everything is rolled back
   * and repeated. Default: every message was written.
   */
  agreed?(sql: Db): Fragment
  /** Which of these rows have become messages already, with the ids of those messages. Called for rows that could not be claimed, which is rare. */
  known(sql: Db, rows: readonly MissedRow[]): Promise<ReadonlyMap<number, string | null>>
}

/** Requests with an Idempotency-Key: the key must be free, and stores the answer from then on. A key that is taken is known. */
const requestFragment: ProducerFragment = {
  kind: 'request',
  columns: keyColumns,
  held: (sql, { aged_ms }) => freeKeys(sql, aged_ms),
  settle: (sql, { at_ms, aged_ms }) => keepKeys(sql, at_ms, aged_ms),
  agreed: keysAgree,
  known: (_, rows) => Promise.resolve(new Map(rows.map(({ n }) => [n, null]))),
}

export interface Producers {
  /** The fragment that these units need, all of one kind; null where they have no producer. */
  fragmentOf(units: readonly Unit[]): ProducerFragment | null
  /** Throws for an unknown kind. */
  require(kind: string): ProducerFragment
}

/** Throws where two have the same kind. */
export function producersOf(given: readonly ProducerFragment[]): Producers {
  const byKind = new Map([requestFragment, ...given].map((fragment) => [fragment.kind, fragment]))
  if (byKind.size < given.length + 1) throw new Error('two producers have one kind')
  const require = (kind: string): ProducerFragment => {
    const fragment = byKind.get(kind)
    if (fragment === undefined)
      throw new Error(`no producer has the kind ${kind}; there are ${[...byKind.keys()].join(', ')}`)
    return fragment
  }
  return {
    require,
    fragmentOf(units) {
      const alongside = units.find(({ pending }) => pending.submission.alongside !== undefined)?.pending.submission
        .alongside
      return alongside === undefined ? null : require(alongside.kind)
    },
  }
}

/** Units of one kind share a batch. Submissions without a producer go with requests. */
export const kindOf = ({ pending: { submission } }: Unit): string => submission.alongside?.kind ?? requestFragment.kind
