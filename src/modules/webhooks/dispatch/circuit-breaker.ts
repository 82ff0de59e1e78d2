/**
 * The circuit breaker of an endpoint: after five consecutive failures, one attempt at a time, at most one a second,
 * until one succeeds.
 */

export const breakerThreshold = 5
export const breakerIntervalMs = 1_000

export interface CountedOutcome {
  readonly endpoint_id: string
  readonly failed: boolean
  /** The attempt started while the breaker was open. */
  readonly breaker_open: boolean
}

/** Since the last success, by the state of the breaker when they started. */
export interface FailureTally {
  closed: number
  open: number
}

/** Without endpoints whose last attempt succeeded. */
export function tallyFailures(outcomes: readonly CountedOutcome[]): Map<string, FailureTally> {
  const tallies = new Map<string, FailureTally>()
  for (const { endpoint_id, failed, breaker_open } of outcomes) {
    if (!failed) {
      tallies.delete(endpoint_id)
      continue
    }
    let tally = tallies.get(endpoint_id)
    if (tally === undefined) tallies.set(endpoint_id, (tally = { closed: 0, open: 0 }))
    if (breaker_open) tally.open += 1
    else tally.closed += 1
  }
  return tallies
}

/** Parallel attempts count up to the threshold only, so a short outage never disables an endpoint. */
export const failuresAfter = (failures: number, { closed, open }: FailureTally): number =>
  failures + Math.min(closed, Math.max(0, breakerThreshold - failures)) + open
