/** How arguments are read; what does not fit is wrong usage (exit code 2). */
import { InvalidArgumentError } from 'commander'
import { parseDateTime } from '../api/times.ts'

/** A whole number, 0 or more. */
export function wholeNumber(text: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(value))
    throw new InvalidArgumentError(/^\d+$/.test(text) ? 'It has too many digits.' : 'It must be a whole number.')
  return value
}

/** A whole number, 1 or more. */
export function positiveNumber(text: string): number {
  const value = wholeNumber(text)
  if (value === 0) throw new InvalidArgumentError('It must be 1 or more.')
  return value
}

/** How many items of a list to ask for: 1 to 100. */
export function pageSize(text: string): number {
  const value = positiveNumber(text)
  if (value > 100) throw new InvalidArgumentError('It must be 100 or less.')
  return value
}

/** Comma-separated words. */
export const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Comma-separated words, at least one: a list that is there but empty comes from a variable that was never set, and would mean the opposite of what was asked. */
export function someWords(text: string): string[] {
  const found = [...new Set(words(text))]
  if (found.length === 0) throw new InvalidArgumentError('It must name at least one; leave the option out otherwise.')
  return found
}

/** An RFC 3339 time or a date, as ISO text. */
export function time(text: string): string {
  const iso = parseDateTime(text)
  if (iso === null) throw new InvalidArgumentError('It must be a time such as 2026-01-31T09:30:00Z, or a date.')
  return iso
}

/** One of these words. */
export const oneOfWords =
  <T extends string>(known: readonly T[]) =>
  (text: string): T => {
    const word = known.find((entry) => entry === text)
    if (word === undefined) throw new InvalidArgumentError(`It must be one of ${known.join(', ')}.`)
    return word
  }

/** An http or https URL; without a scheme it is http. */
export function httpUrl(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('It must be an http or https URL such as http://localhost:3000/webhooks.')
  return url
}
