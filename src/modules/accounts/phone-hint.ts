/** Suggests the E.164 form of a rejected phone number (behaviour: conventions 6.7). */
import type { Tenant } from '../../api/caller.ts'
import type { Detail } from '../../api/errors.ts'
import { normalisePhone } from '../../lib/phone.ts'
import type { Db } from '../../platform/database/sql.ts'
import { findDefaultCountry } from './repository.ts'

/** A national number is read with the account's default country. */
export async function withPhoneHint(
  sql: Db,
  { account_id }: Pick<Tenant, 'account_id'>,
  failures: readonly Detail[],
  param: string,
  written: unknown,
): Promise<readonly Detail[]> {
  if (typeof written !== 'string' || !failures.some((failure) => isOf(failure, param))) return failures
  const meant = internationalForm(written) ?? nationalForm(written, await sharedCountry(sql, account_id))
  if (meant === null) return failures
  return failures.map((failure) =>
    isOf(failure, param) ? { ...failure, message: failure.message + didYouMean(meant) } : failure,
  )
}

/** In the notation of `country`; empty when there is none. */
export function phoneHint(written: string, country: string | null): string {
  const meant = internationalForm(written) ?? nationalForm(written, country)
  return meant === null ? '' : didYouMean(meant)
}

export const defaultCountryOf = findDefaultCountry

const inProgress = new WeakMap<Db, Map<string, Promise<string | null>>>()

function sharedCountry(sql: Db, account_id: string): Promise<string | null> {
  let ofDatabase = inProgress.get(sql)
  if (ofDatabase === undefined) inProgress.set(sql, (ofDatabase = new Map()))
  let answer = ofDatabase.get(account_id)
  if (answer === undefined)
    ofDatabase.set(
      account_id,
      (answer = findDefaultCountry(sql, account_id).finally(() => ofDatabase.delete(account_id))),
    )
  return answer
}

const isOf = (failure: Detail, param: string): boolean => failure.param === param && failure.code === 'invalid_format'
const didYouMean = (number: string): string => ` Did you mean ${number}?`

/** Also accepts the 00 that many countries dial before a country code. */
const internationalForm = (written: string): string | null => normalisePhone(written.replace(/^\s*00(?=[1-9])/, '+'))
const nationalForm = (written: string, country: string | null): string | null =>
  country === null ? null : normalisePhone(written, country)
