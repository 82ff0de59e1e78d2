/**
 * Rate limits per key and route, in windows of one second that start with the first request (behaviour: conventions 9).
 */
import type { SteadyClock } from '../../lib/clock.ts'

export const windowMs = 1000
const keysMax = 50_000

export interface Verdict {
  readonly allowed: boolean
  readonly remaining: number
  /** At least 1. */
  readonly reset_s: number
}

export interface RateLimiter {
  take(key_id: string, route: number, limit: number): Verdict | Promise<Verdict>
  close(): Promise<void>
}

interface Window {
  opened_ms: number
  count: number
}

export interface ProcessRateLimiter extends RateLimiter {
  take(key_id: string, route: number, limit: number): Verdict
}

export function processRateLimiter(clock: Pick<SteadyClock, 'elapsed'>): ProcessRateLimiter {
  const keys = new Map<string, Window[]>()
  return {
    take(key_id, route, limit) {
      const now = clock.elapsed()
      let windows = keys.get(key_id)
      if (windows === undefined) {
        if (keys.size >= keysMax) keys.delete(keys.keys().next().value!)
        keys.set(key_id, (windows = []))
      }
      const window = windows[route]
      if (window === undefined || now - window.opened_ms >= windowMs) {
        windows[route] = { opened_ms: now, count: 1 }
        return verdict(1, limit, windowMs)
      }
      window.count += 1
      return verdict(window.count, limit, windowMs - (now - window.opened_ms))
    },
    close: async () => undefined,
  }
}

export const verdict = (count: number, limit: number, rest_ms: number): Verdict => ({
  allowed: count <= limit,
  remaining: Math.max(0, limit - count),
  reset_s: Math.max(1, Math.ceil(rest_ms / 1000)),
})
