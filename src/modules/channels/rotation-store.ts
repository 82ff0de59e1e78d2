/** SQL of a rotation of the secret key: the sealed credentials of every account's channels, in pages. */
import type { Db } from '../../platform/database/sql.ts'
import type { ChannelRow } from './store.ts'

type SealedChannel = Readonly<Pick<ChannelRow, 'id' | 'credentials'>>

/** Sealed credentials by id; deleted channels have none. */
export async function listSealed(sql: Db, after: string, rows_max: number): Promise<SealedChannel[]> {
  return await sql<SealedChannel[]>`
    select id, credentials from channels where id > ${after} and deleted_at is null and credentials <> '' order by id limit ${rows_max}`
}

/** Writes the credentials sealed anew, unless they have changed meanwhile. */
export async function reseal(sql: Db, old: SealedChannel, { id, credentials }: SealedChannel): Promise<void> {
  await sql`update channels set credentials = ${credentials} where id = ${id} and credentials = ${old.credentials}`
}
