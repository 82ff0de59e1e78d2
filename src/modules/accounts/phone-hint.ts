/** The one place that says of a refused phone number what was probably meant (behaviour: conventions 6.7). Asked only once something is refused. */
import type { Tenant } from '../../api/caller.ts'
import type { Detail } from '../../api/errors.ts'
import { normalisePhone } from '../../lib/phone.ts'
import type { Db } from '../../platform/database/sql.ts'
import { findDefaultCountry } from './store.ts'

/** Failures of a phone number whose text is `written`, that of `param` with its E.164 form: of an international number, or of a national one by the account's default country. */
export async function withPhoneHint(
  sql: Db,
  { account_id }: Pick<Tenant, 'account_id'>,
  failures: readonly Detail[],
  param: string,
  written: unknown,
): Promise<readonly Detail[]> {
  if (typeof written !== 'string' || !failures.some((failure) => isOf(failure, param))) return failures
  const meant = internationalForm(written) ?? nationalForm(written, await countryOnce(sql, account_id))
  if (meant === null) return failures
  return failures.map((failure) =>
    isOf(failure, param) ? { ...failure, message: failure.message + didYouMean(meant) } : failure,
  )
}

/** The sentence about a number that was written as in `country`, for a report that holds many of them; empty where nothing can be said. */
export function phoneHint(written: string, country: string | null): string {
  const meant = internationalForm(written) ?? nationalForm(written, country)
  return meant === null ? '' : didYouMean(meant)
}

/** ISO 3166 alpha-2, or null. For `phoneHint`. */
export const defaultCountryOf = findDefaultCountry

/** Look-ups under way: the hundred items of a batch ask at the same time, and share one. */
const underWay = new WeakMap<Db, Map<string, Promise<string | null>>>()

function countryOnce(sql: Db, account_id: string): Promise<string | null> {
  let ofDatabase = underWay.get(sql)
  if (ofDatabase === undefined) underWay.set(sql, (ofDatabase = new Map()))
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

/** Written with blanks and the like, or with the 00 that many countries dial before a foreign country's code. */
const internationalForm = (written: string): string | null => normalisePhone(written.replace(/^\s*00(?=[1-9])/, '+'))
const nationalForm = (written: string, country: string | null): string | null =>
  country === null ? null : normalisePhone(written, country)
