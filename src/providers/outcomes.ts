/** Outcomes shared by all providers (docs/decisions/unknown-outcomes.md). */
import type { HttpAnswer } from '../lib/http-client.ts'
import type { StatusQueryResult, Outcome, OnPartAccepted } from './provider.ts'

type Answer = Extract<HttpAnswer, { kind: 'answer' }>

const retryAfterMaxMs = 3_600_000

/** A 4xx of a proxy precedes forwarding; any other answer may follow after the provider accepted the message. */
export function kindOfForeignAnswer(status: number): 'throttled' | 'unavailable' | 'unknown' {
  if (status === 429) return 'throttled'
  return status >= 400 && status < 500 && status !== 408 ? 'unavailable' : 'unknown'
}

export function outcomeOfForeignAnswer(
  title: string,
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
): Outcome {
  const kind = kindOfForeignAnswer(status)
  const provider_code = String(status)
  if (kind === 'unknown')
    return { kind, message: `${title} may have accepted the message: something else answered with ${status}.` }
  if (kind === 'unavailable')
    return { kind, provider_code, message: `${title} was not reached: something in front of it answered ${status}.` }
  return { kind, limit_on: 'channel', provider_code, message: 'Too many requests at once.', ...retryAfterOf(headers) }
}

/** null unless the answer is a 429. */
export function throttledQuery(
  title: string,
  answer: HttpAnswer,
): (StatusQueryResult & { readonly kind: 'throttled' }) | null {
  if (answer.kind !== 'answer' || answer.status !== 429) return null
  return {
    kind: 'throttled',
    message: `${title} accepts no more status queries for now.`,
    ...retryAfterOf(answer.headers),
  }
}

/** At most one hour. */
export function retryAfterOf(headers: Readonly<Record<string, string>>): { readonly retry_after_ms?: number } {
  const { 'retry-after': wait = '', date = '' } = headers
  const ms = /^\s*[\d.]+\s*$/.test(wait) ? Number(wait) * 1000 : Date.parse(wait) - Date.parse(date)
  return ms > 0 ? { retry_after_ms: Math.min(ms, retryAfterMaxMs) } : {}
}

export const outcomeOfNoAnswer = (title: string, answer: Exclude<HttpAnswer, { kind: 'answer' }>): Outcome =>
  answer.kind === 'unsent'
    ? { kind: 'unavailable', provider_code: answer.code, message: `${title} could not be reached: ${answer.message}` }
    : { kind: 'unknown', message: `${title} may have accepted the message: ${answer.message}` }

/**
 * Stores the parts accepted so far. Resolves to the signal for the next part, or null if it must wait (`restLater`).
 */
export const nextPart = async (
  onPartAccepted: OnPartAccepted | undefined,
  provider_ids: readonly string[],
  signal: AbortSignal,
): Promise<AbortSignal | null> => (onPartAccepted === undefined ? signal : await onPartAccepted([...provider_ids]))

export const restLater = (provider_ids: readonly string[]): Outcome => ({
  kind: 'unavailable',
  provider_code: null,
  message: 'The remaining parts wait for the next attempt.',
  provider_ids,
})
