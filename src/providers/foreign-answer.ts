/**
 * What an HTTP answer to a hand-over comes to that is not the provider's own: a page of a proxy, of a firewall or of a load balancer in between. The rule is
 * one for all providers (docs/decisions/unknown-outcomes.md).
 */
import type { HttpAnswer } from '../lib/http-client.ts'
import type { StatusQueryResult, Outcome } from './provider.ts'

type Answer = Extract<HttpAnswer, { kind: 'answer' }>

const retryAfterMaxMs = 3_600_000

/**
 * A 4xx is said before anything is passed on: the provider never had the message, and has said nothing against it or the credentials, so it is repeated while it is valid.
 * A 408, a 5xx, a redirect and a success may come after the provider took it: nobody knows.
 */
export function kindOfForeignAnswer(status: number): 'throttled' | 'unavailable' | 'unknown' {
  if (status === 429) return 'throttled'
  return status >= 400 && status < 500 && status !== 408 ? 'unavailable' : 'unknown'
}

/** `title` is the provider's, as people write it. */
export function outcomeOfForeignAnswer(
  title: string,
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
): Outcome {
  const kind = kindOfForeignAnswer(status)
  const provider_code = String(status)
  if (kind === 'unknown')
    return { kind, message: `${title} may have taken the message: the answer was ${status}, and nothing of its own.` }
  if (kind === 'unavailable')
    return { kind, provider_code, message: `${title} was not reached: something before it answered ${status}.` }
  return { kind, limit_on: 'channel', provider_code, message: 'Too many requests at once.', ...retryAfterOf(headers) }
}

/** A 429 to a question, whoever says it: the channel asks too much at once. null for everything else. */
export function askedTooMuch(
  title: string,
  answer: HttpAnswer,
): (StatusQueryResult & { readonly kind: 'throttled' }) | null {
  if (answer.kind !== 'answer' || answer.status !== 429) return null
  return { kind: 'throttled', message: `${title} takes no more questions for now.`, ...retryAfterOf(answer.headers) }
}

/** What `retry-after` says, as seconds or as a time by the clock of the answer's own `date`: an hour at most. */
export function retryAfterOf(headers: Readonly<Record<string, string>>): { readonly retry_after_ms?: number } {
  const { 'retry-after': told = '', date = '' } = headers
  const ms = /^\s*[\d.]+\s*$/.test(told) ? Number(told) * 1000 : Date.parse(told) - Date.parse(date)
  return ms > 0 ? { retry_after_ms: Math.min(ms, retryAfterMaxMs) } : {}
}
