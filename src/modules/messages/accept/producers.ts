/**
 * Producers insert messages for their own rows in the accepting statement (docs/decisions/producers.md).
 * Idempotency-Keys are one of them.
 */
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import { unusedKey, insertKeys, keyColumns, allKeysWereFree } from '../../../platform/http/idempotency-repository.ts'
import type { Moment } from './row.ts'
import type { Unit } from './submission.ts'

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
   * A sub-select that yields a row if the row `i` (n, account_id, mode, submission_key, `columns`) may become a
   * message. Claims the pending row with `for update skip locked`: it must not wait, because wallets are locked after
   * it.
   */
  claim(sql: Db, moment: Moment): Fragment
  /**
   * Writes the outcomes of claimed rows in `submitted` (n, account_id, mode, key, message_id, code, value, `columns`)
   * and returns the `message_id` of the rows written. `code` is final except insufficient_balance, which leaves the row
   * pending.
   */
  complete(sql: Db, moment: Moment): Fragment
  /**
   * A condition on `submitted` and `completed`; if false, everything is rolled back and repeated. Default: every
   * message was written.
   */
  agreed?(sql: Db): Fragment
  /** By `n`; null if unknown. */
  known(sql: Db, rows: readonly MissedRow[]): Promise<ReadonlyMap<number, string | null>>
}

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

/** Throws for a repeated kind. */
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

/** Those without a producer go with requests. */
export const kindOf = ({ pending: { submission } }: Unit): string => submission.producer?.kind ?? requestFragment.kind
