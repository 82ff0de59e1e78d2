/** Parts of statements that every producer's fragment stands between. */
import type { Db, Fragment } from '../../../platform/database/sql.ts'
import type { ProducerFragment } from './producers.ts'

/** The condition under which what `settle` wrote stands. */
export const agreement = (sql: Db, { agreed }: ProducerFragment): Fragment =>
  agreed?.(sql) ?? sql`(select count(message_id) from settled) = (select count(message_id) from submitted)`

/** A part of a statement for each column of a producer. */
export const forColumns = (
  sql: Db,
  { columns }: Pick<ProducerFragment, 'columns'>,
  part: (name: string) => Fragment,
): Fragment | Fragment[] => (columns.length === 0 ? sql`` : columns.map(part))
