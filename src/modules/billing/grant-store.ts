/** SQL of the rule that chooses a grant: which can pay, for what, and which of them is used first. Everything that charges asks by it; charging.ts allocates by the same rule in memory. */
import type { Db } from '../../platform/database/sql.ts'

/** True while a grant can pay for messages at `at` (ISO 8601); of the columns of `grants`. */
export const usableAt = (sql: Db, at: string) =>
  sql`credits_remaining > 0 and expired_at is null and (expires_at is null or expires_at > ${at})`

/** True for a grant that pays for this type of channel. */
export const paysFor = (sql: Db, channel_type: ReturnType<Db>) =>
  sql`(channel_types = '{}' or ${channel_type} = any (channel_types))`

/** What expires first is used first, ties by age: for `order by`, among grants of one account. */
export const orderOfUse = (sql: Db) => sql`expires_at nulls last, id`
