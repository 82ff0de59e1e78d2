/**
 * Producers insert messages for rows of their own, in the statement that accepts (docs/decisions/producers.md).
 * Idempotency-Keys are a built-in producer.
 */
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import { unusedKey, insertKeys, keyColumns, allKeysWereFree } from '../../../platform/http/idempotency-repository.ts'
import type { Moment } from './row.ts'
import type { Unit } from './submission.ts'

/** A row that could not be claimed. */
export interface MissedRow {
  readonly n: number
  readonly account_id: string
  readonly mode: string
  readonly submission_key: string | null
}

export interface ProducerFragment {
  /** Lower-case letters and underscores. A batch has submissions of one kind. */
  readonly kind: string
  /** Text columns that its submissions add to the key of each item (`ProducerData.values`). */
  readonly columns: readonly string[]
  /**
   * Precondition: a sub-select that yields a row where the row `i` (n, account_id, mode, submission_key, `columns`)
   * may become a message. Claims the pending row with `for update skip locked`; it must not wait, because wallets are
   * locked after it.
   */
  claim(sql: Db, moment: Moment): Fragment
  /**
   * Consequence: writes the outcomes of claimed rows in `submitted` (n, account_id, mode, key, message_id, code,
   * value, `columns`) and returns the `message_id` of the rows it wrote. `code`: recipient_blocked, policy_violation
   * and parameter_invalid are final, insufficient_balance leaves the row pending.
   */
  complete(sql: Db, moment: Moment): Fragment
  /**
   * A condition on `submitted` and `completed`. Where it is false, everything is rolled back and repeated. Default:
   * every message was written.
   */
  agreed?(sql: Db): Fragment
  /** Ids of the messages that these unclaimed rows have become. */
  known(sql: Db, rows: readonly MissedRow[]): Promise<ReadonlyMap<number, string | null>>
}

/** A key that is taken is known. */
const requestFragment: ProducerFragment = {
  kind: 'request',
  columns: keyColumns,
  claim: (sql, { aged_ms }) => unusedKey(sql, aged_ms),
  complete: (sql, { at_ms, aged_ms }) => insertKeys(sql, at_ms, aged_ms),
  agreed: allKeysWereFree,
  known: (_, rows) => Promise.resolve(new Map(rows.map(({ n }) => [n, null]))),
}

export interface Producers {
  /** Null without a producer. */
  fragmentOf(units: readonly Unit[]): ProducerFragment | null
  /** Throws for an unknown kind. */
  require(kind: string): ProducerFragment
}

/** Throws where two have the same kind. */
export function producersOf(fragments: readonly ProducerFragment[]): Producers {
  const byKind = new Map([requestFragment, ...fragments].map((fragment) => [fragment.kind, fragment]))
  if (byKind.size < fragments.length + 1) throw new Error('two producers have one kind')
  const require = (kind: string): ProducerFragment => {
    const fragment = byKind.get(kind)
    if (fragment === undefined)
      throw new Error(`no producer has the kind ${kind}; there are ${[...byKind.keys()].join(', ')}`)
    return fragment
  }
  return {
    require,
    fragmentOf(units) {
      const submission = units.find(({ pending }) => pending.submission.producer !== undefined)?.pending.submission
      return submission === undefined ? null : require(submission.producer!.kind)
    },
  }
}

/** Units of one kind share a batch. Submissions without a producer go with requests. */
export const kindOf = ({ pending: { submission } }: Unit): string => submission.producer?.kind ?? requestFragment.kind
