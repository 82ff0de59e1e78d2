/** A bounded queue with limits per account. */
import type { Clock } from '../../lib/clock.ts'

export interface QueueLimits {
  readonly running: number
  readonly running_per_account: number
  readonly waiting: number
  readonly waiting_per_account: number
}

export type Release = () => void

export interface FairQueue {
  /** Null if the queue is full, after `wait_ms`, or when `signal` aborts. */
  acquire(account_id: string, wait_ms: number, signal: AbortSignal): Promise<Release | null>
  waiting(): number
}

interface Waiter {
  readonly account_id: string
  readonly admit: () => void
}

export function fairQueue(clock: Clock, limits: QueueLimits): FairQueue {
  const state: QueueState = { limits, running: new Map(), running_all: 0, waiters: new Set() }
  return {
    waiting: () => state.waiters.size,
    async acquire(account_id, wait_ms, signal) {
      if (signal.aborted) return null
      if (!mayRun(state, account_id)) {
        if (!mayWait(state, account_id)) return null
        if (!(await waitForSlot(state, account_id, clock, wait_ms, signal))) return null
      } else occupy(state, account_id)
      return () => release(state, account_id)
    },
  }
}

interface QueueState {
  readonly limits: QueueLimits
  readonly running: Map<string, number>
  running_all: number
  readonly waiters: Set<Waiter>
}

const runningOf = (state: QueueState, account_id: string): number => state.running.get(account_id) ?? 0

const mayRun = (state: QueueState, account_id: string): boolean =>
  state.running_all < state.limits.running && runningOf(state, account_id) < state.limits.running_per_account

function mayWait(state: QueueState, account_id: string): boolean {
  if (state.waiters.size >= state.limits.waiting) return false
  let own = 0
  for (const waiter of state.waiters) if (waiter.account_id === account_id) own += 1
  return own < state.limits.waiting_per_account
}

function occupy(state: QueueState, account_id: string): void {
  state.running.set(account_id, runningOf(state, account_id) + 1)
  state.running_all += 1
}

function release(state: QueueState, account_id: string): void {
  const remaining = runningOf(state, account_id) - 1
  if (remaining === 0) state.running.delete(account_id)
  else state.running.set(account_id, remaining)
  state.running_all -= 1
  const next = nextWaiter(state)
  if (next !== undefined) {
    state.waiters.delete(next)
    occupy(state, next.account_id)
    next.admit()
  }
}

/** The oldest one among the accounts with the fewest running reads. */
function nextWaiter(state: QueueState): Waiter | undefined {
  let next: Waiter | undefined
  for (const waiter of state.waiters) {
    if (
      mayRun(state, waiter.account_id) &&
      (next === undefined || runningOf(state, waiter.account_id) < runningOf(state, next.account_id))
    )
      next = waiter
  }
  return next
}

async function waitForSlot(
  state: QueueState,
  account_id: string,
  clock: Clock,
  wait_ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve: admit } = Promise.withResolvers<void>()
  const waiter: Waiter = { account_id, admit }
  state.waiters.add(waiter)
  const done = new AbortController()
  try {
    await Promise.race([promise, clock.sleep(wait_ms, AbortSignal.any([signal, done.signal]))])
  } finally {
    done.abort()
  }
  // no longer queued: admitted, possibly at the last moment
  return !state.waiters.delete(waiter)
}
