/**
 * Producers: who submits messages and has rows of its own that change with them. Each is a fragment of the statement that accepts, a precondition and a
 * consequence; the composition root hands in the closed list of them. Requests with an Idempotency-Key are the one that is always there.
 * See docs/decisions/producers.md.
 */
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import { freeKeys, keepKeys, keyColumns, keysAgree } from '../../../platform/http/idempotency-store.ts'
import type { Moment } from './row.ts'
import type { Unit } from './submission.ts'

/** A row that was not held, by what its producer knows of it. */
export interface MissedRow {
  readonly n: number
  readonly account_id: string
  readonly mode: string
  readonly submission_key: string | null
}

/** SQL that a producer adds to the statement that accepts, set-wise, on both of its paths. */
export interface ProducerFragment {
  /** Lower-case letters and underscores. A batch holds submissions of one kind alone. */
  readonly kind: string
  /** Columns that its submissions bring as text beside the key of each item (`Alongside.values`). */
  readonly columns: readonly string[]
  /**
   * The precondition: a sub-select that yields a row where the row `i` (n, account_id, mode, submission_key, and `columns`) may become a message, and that
   * claims the producer's own row by `for update skip locked`: still pending, and without a message. It never waits, since wallets are locked after it.
   */
  held(sql: Db, moment: Moment): Fragment
  /**
   * The consequence: one statement that writes what the relation `submitted` tells (n, account_id, mode, key, message_id, code, value, and `columns`), and returns
   * `message_id` of the rows it wrote. `message_id` is null where `code` is not: recipient_blocked, policy_violation and parameter_invalid are for good, and
   * insufficient_balance leaves the row pending. Rows that were not held are not in it.
   */
  settle(sql: Db, moment: Moment): Fragment
  /** A condition on `submitted` and `settled` (what `settle` returned); where it does not hold, everything is taken back and repeated. Default: each message was written. */
  agreed?(sql: Db): Fragment
  /** The rows among these that have become messages already, each with the id of its message. Asked where a row was not held, which is rare. */
  known(sql: Db, rows: readonly MissedRow[]): Promise<ReadonlyMap<number, string | null>>
}

/** Requests with an Idempotency-Key: free until now, and from here on standing for their answer. A key that is taken is known. */
const requestFragment: ProducerFragment = {
  kind: 'request',
  columns: keyColumns,
  held: (sql, { aged_ms }) => freeKeys(sql, aged_ms),
  settle: (sql, { at_ms, aged_ms }) => keepKeys(sql, at_ms, aged_ms),
  agreed: keysAgree,
  known: (_, rows) => Promise.resolve(new Map(rows.map(({ n }) => [n, null]))),
}

export interface Producers {
  /** The fragment that these units need, all of one kind; null where nothing stands alongside. */
  fragmentOf(units: readonly Unit[]): ProducerFragment | null
  /** Throws for a kind that is not registered. */
  require(kind: string): ProducerFragment
}

/** Refuses two of one kind. */
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

/** Units of one kind share a batch. What has nothing alongside goes with requests, whose keys are free where there are none. */
export const kindOf = ({ pending: { submission } }: Unit): string => submission.alongside?.kind ?? requestFragment.kind
