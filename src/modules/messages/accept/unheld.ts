/** Rows that could not be held for their producer: messages already, or withdrawn. */
import type { Db } from '../../../platform/database/sql.ts'
import type { Place } from './submission.ts'
import type { ProducerFragment } from './producers.ts'

/** Gives each its outcome. */
export async function answerUnheld(sql: Db, producer: ProducerFragment, unheld: readonly Place[]): Promise<void> {
  if (unheld.length === 0) return
  const known = await producer.known(
    sql,
    unheld.map(({ row: { n, account_id, mode, submission_key } }) => ({ n, account_id, mode, submission_key })),
  )
  for (const { unit, index, row } of unheld) {
    const message_id = known.get(row.n)
    unit.outcomes[index] = message_id === undefined ? { kind: 'withdrawn' } : { kind: 'known', message_id }
  }
}
