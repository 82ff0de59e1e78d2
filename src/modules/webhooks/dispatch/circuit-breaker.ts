/** The circuit of an endpoint: from the fifth failure in a row on, attempts go one at a time and at most one a second, until one succeeds. */

/** Failures in a row from which on the circuit is open. */
export const breakerThreshold = 5
/** Between the attempts under an open circuit. */
export const breakerIntervalMs = 1_000

/** How an attempt counts: what is asked of an outcome here. */
export interface CountedOutcome {
  readonly endpoint_id: string
  readonly failed: boolean
  /** It began while the circuit was open. */
  readonly breaker_open: boolean
}

/** Failed attempts at an endpoint after its last success: those that began while the circuit was closed, and those under it. */
export interface FailureTally {
  closed: number
  open: number
}

/** By endpoint, of outcomes in the order in which they came; endpoints whose last attempt succeeded are left out. */
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

/** Failures in a row after these. Attempts that were under way together count up to the circuit only: a short outage never disables an endpoint. */
export const failuresAfter = (failures: number, { closed, open }: FailureTally): number =>
  failures + Math.min(closed, Math.max(0, breakerThreshold - failures)) + open
