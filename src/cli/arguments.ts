/** Parses arguments. An invalid value is a usage error (exit code 2). */
import { InvalidArgumentError, type Command } from 'commander'
import { parseDateTime } from '../api/times.ts'
import type { App } from '../app.ts'
import type { Tenant } from '../api/caller.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { eventFilters } from '../api/events.ts'
import { nearest } from '../lib/text.ts'

export function wholeNumber(text: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(value))
    throw new InvalidArgumentError(
      /^\d+$/.test(text) ? 'It has too many digits.' : 'It must be a whole number, 0 or more.',
    )
  return value
}

export function positiveNumber(text: string): number {
  const value = wholeNumber(text)
  if (value === 0) throw new InvalidArgumentError('It must be 1 or more.')
  return value
}

export function pageSize(text: string): number {
  const value = positiveNumber(text)
  if (value > 100) throw new InvalidArgumentError('It must be 100 or less.')
  return value
}

export const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** An empty list comes from an unset variable and would mean the opposite. */
export function nonEmptyWords(text: string): string[] {
  const found = [...new Set(words(text))]
  if (found.length === 0) throw new InvalidArgumentError('It must not be empty. Omit the option instead.')
  return found
}

export function time(text: string): string {
  const iso = parseDateTime(text)
  if (iso === null) throw new InvalidArgumentError('It must be a time such as 2026-01-31T09:30:00Z, or a date.')
  return iso
}

export const oneOfWords =
  <T extends string>(known: readonly T[]) =>
  (text: string): T => {
    const word = known.find((entry) => entry === text)
    if (word === undefined) throw new InvalidArgumentError(`It must be one of ${known.join(', ')}.`)
    return word
  }

/** Without a scheme it is http. */
export function httpUrl(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('It must be an http or https URL such as http://localhost:3000/webhooks.')
  return url
}

/** Throws an OperatorError if the account is ambiguous. */
export async function accountOf(app: App, account: string | undefined): Promise<Tenant['account_id']> {
  const all = await app.services.accounts.list()
  const found = account === undefined ? (all.length === 1 ? all[0] : undefined) : all.find(({ id }) => id === account)
  if (found !== undefined) return found.id as Tenant['account_id']
  if (account !== undefined)
    throw new OperatorError(
      `No account has the id ${JSON.stringify(account.slice(0, 80))}. \`posthorn accounts list\` shows them.`,
    )
  throw new OperatorError(
    all.length === 0
      ? 'There are no accounts. Create one with `posthorn accounts create --name N`.'
      : 'There are several accounts. Choose one of `posthorn accounts list` with --account.',
  )
}

/** None given: all types. */
export function eventList(events: readonly string[] | undefined, command: Command): readonly string[] {
  if (events === undefined) return []
  if (events.length === 0)
    command.error('error: an empty list is no event type. Leave the option out to have all of them.')
  const unknown = events.find((event) => event !== '*' && !eventFilters.includes(event))
  if (unknown !== undefined) {
    const meant = nearest(unknown.slice(0, 64), eventFilters)
    const hint =
      meant === undefined
        ? 'Give types such as message.delivered, or a prefix such as message.*.'
        : `Did you mean ${meant}?`
    command.error(`error: ${unknown} is no event type. ${hint} There are ${eventFilters.join(', ')}.`)
  }
  return events
}
