/** SQL of second factors: TOTP secrets, used steps and recovery codes. */
import type { Db } from '../../../platform/database/sql.ts'

export interface SecondFactorRow {
  /** Encrypted; null for none. */
  readonly second_factor: string | null
  /** Not confirmed with a code yet. */
  readonly second_factor_pending: string | null
  readonly second_factor_step: number | null
  /** Keyed hashes. */
  readonly recovery_codes: readonly string[]
}

export async function lockSecondFactor(tx: Db, user_id: string): Promise<SecondFactorRow | null> {
  const [row] = await tx<SecondFactorRow[]>`
    select second_factor, second_factor_pending, second_factor_step, recovery_codes
    from users
    where id = ${user_id}
    for update`
  return row ?? null
}

export async function beginSecondFactor(sql: Db, user_id: string, sealed: string): Promise<void> {
  await sql`update users set second_factor_pending = ${sealed} where id = ${user_id}`
}

export async function confirmSecondFactor(
  tx: Db,
  user_id: string,
  step: number,
  recovery_codes: readonly string[],
  at: string,
): Promise<void> {
  await tx`
    update users
    set second_factor = second_factor_pending, second_factor_pending = null, second_factor_at = ${at},
      second_factor_step = ${step}, recovery_codes = ${recovery_codes as string[]}
    where id = ${user_id}`
}

export async function recordStep(tx: Db, user_id: string, step: number): Promise<void> {
  await tx`update users set second_factor_step = ${step} where id = ${user_id}`
}

export async function useRecoveryCode(tx: Db, user_id: string, code: string): Promise<void> {
  await tx`update users set recovery_codes = array_remove(recovery_codes, ${code}) where id = ${user_id}`
}

export async function deleteSecondFactor(sql: Db, user_id: string): Promise<void> {
  await sql`
    update users
    set second_factor = null, second_factor_pending = null, second_factor_at = null,
      second_factor_step = null, recovery_codes = '{}'
    where id = ${user_id}`
}

export type SealedFactor = {
  readonly id: string
  readonly second_factor: string | null
  readonly second_factor_pending: string | null
}

export async function listSealedFactors(sql: Db, after: string, rows_max: number): Promise<SealedFactor[]> {
  return await sql<SealedFactor[]>`
    select id, second_factor, second_factor_pending from users
    where id > ${after} and (second_factor is not null or second_factor_pending is not null)
    order by id
    limit ${rows_max}`
}

export async function resealFactor(sql: Db, old: SealedFactor, row: SealedFactor): Promise<void> {
  await sql`
    update users
    set second_factor = ${row.second_factor}, second_factor_pending = ${row.second_factor_pending}
    where id = ${row.id}
      and second_factor is not distinct from ${old.second_factor}
      and second_factor_pending is not distinct from ${old.second_factor_pending}`
}
