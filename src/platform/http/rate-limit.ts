/** Rate limits (interface: Limits): a bucket per key and route, whose window of one second is opened by its first request. */
import { Redis } from 'ioredis'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'

const windowMs = 1000
/** Keys whose windows are remembered; the oldest are forgotten first. A window forgotten early is only opened anew. */
const keysMax = 50_000

export interface Verdict {
  readonly allowed: boolean
  readonly remaining: number
  /** Whole seconds until the window ends, at least 1. */
  readonly reset_s: number
}

export interface RateLimiter {
  /** Counts one request of a key on a route, and tells whether it is within the limit. */
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

/** Limits of this process alone. */
export function processRateLimiter(clock: Clock): ProcessRateLimiter {
  const keys = new Map<string, Window[]>()
  return {
    take(key_id, route, limit) {
      const now = clock.now()
      let windows = keys.get(key_id)
      if (windows === undefined) {
        if (keys.size >= keysMax) keys.delete(keys.keys().next().value!)
        keys.set(key_id, (windows = []))
      }
      const window = windows[route]
      if (window === undefined || now - window.opened_ms >= windowMs || now < window.opened_ms) {
        windows[route] = { opened_ms: now, count: 1 }
        return verdict(1, limit, windowMs)
      }
      window.count += 1
      return verdict(window.count, limit, windowMs - (now - window.opened_ms))
    },
    close: async () => undefined,
  }
}

const verdict = (count: number, limit: number, rest_ms: number): Verdict => ({
  allowed: count <= limit,
  remaining: Math.max(0, limit - count),
  reset_s: Math.max(1, Math.ceil(rest_ms / 1000)),
})

/** Counts, opens the window on the first, and tells what is left of it. */
const script = `local n = redis.call('incr', KEYS[1])
if n == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) return {1, tonumber(ARGV[1])} end
local left = redis.call('pttl', KEYS[1])
if left < 0 then redis.call('pexpire', KEYS[1], ARGV[1]) left = tonumber(ARGV[1]) end
return {n, left}`

type CountingRedis = Redis & { posthornCount(key: string, window: number): Promise<[number, number]> }

const answerWithinMs = 250

/** Limits shared by every process through Redis, in one pipelined round trip. Without Redis: limits of this process. */
export function redisRateLimiter(url: string, clock: Clock, log: Log, metrics: Metrics): RateLimiter {
  const local = processRateLimiter(clock)
  const redis = new Redis(url, {
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: answerWithinMs,
    connectTimeout: 2000,
    retryStrategy: (times) => Math.min(100 * 2 ** Math.min(times, 6), 5000),
  }) as CountingRedis
  redis.defineCommand('posthornCount', { numberOfKeys: 1, lua: script })
  let lost = false
  redis.on('error', () => undefined) // each request says it below; a state change is logged once
  const fallBack = (error: unknown) => {
    if (!lost) log.warn({ error: error instanceof Error ? error.message : String(error) }, 'Redis does not answer: rate limits are per process until it does')
    lost = true
    metrics.rate_limit_fallbacks.inc()
  }
  return {
    async take(key_id, route, limit) {
      try {
        const [count, left] = await redis.posthornCount(`posthorn:rate:${key_id}:${route}`, windowMs)
        if (lost) log.info('Redis answers again: rate limits are shared')
        lost = false
        return verdict(count, limit, left)
      } catch (error) {
        fallBack(error)
        return local.take(key_id, route, limit)
      }
    },
    async close() {
      redis.disconnect()
    },
  }
}
