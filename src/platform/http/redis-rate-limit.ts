/** Rate limits that all processes share through Redis. Loaded only with Redis. */
import { Redis } from 'ioredis'
import type { SteadyClock } from '../../lib/clock.ts'
import { deadlines } from '../../lib/deadlines.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { processRateLimiter, verdict, windowMs, type RateLimiter } from './rate-limit.ts'

/** Returns the count and the remaining time of a window that starts with its first request. */
const script = `local n = redis.call('incr', KEYS[1])
if n == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) return {1, tonumber(ARGV[1])} end
local left = redis.call('pttl', KEYS[1])
if left < 0 then redis.call('pexpire', KEYS[1], ARGV[1]) left = tonumber(ARGV[1]) end
return {n, left}`

type CountingRedis = Redis & { posthornCount(key: string, window: number): Promise<[number, number]> }

const answerWithinMs = 250
/** Not every request waits for a Redis that does not answer. */
const retryAfterMs = 1_000

/** Per process while Redis does not answer. */
export function redisRateLimiter(url: string, clock: SteadyClock, log: Log, metrics: Metrics): RateLimiter {
  const local = processRateLimiter(clock)
  const redis = new Redis(url, {
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    retryStrategy: (times) => Math.min(100 * 2 ** Math.min(times, 6), 5000),
  }) as CountingRedis
  redis.defineCommand('posthornCount', { numberOfKeys: 1, lua: script })
  const closed = new AbortController()
  const expiry = deadlines(clock, closed.signal)
  let lost = false
  let retryAt = -Infinity
  redis.on('error', () => undefined) // requests handle errors; changes of state are logged once
  redis.on('ready', () => (retryAt = -Infinity))
  const missed = (error: unknown) => {
    if (!lost)
      log.warn(
        { error: error instanceof Error ? error.message : String(error) },
        'Redis does not answer: rate limits are per process until it does',
      )
    lost = true
    retryAt = clock.elapsed() + retryAfterMs
  }
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const deadline = expiry.add(answerWithinMs, () => reject(new Error(`no answer within ${answerWithinMs} ms`)))
    return await Promise.race([answer, late]).finally(() => deadline.cancel())
  }
  const alone: RateLimiter['take'] = (key_id, route, limit) => {
    metrics.rate_limit_fallbacks.inc()
    return local.take(key_id, route, limit)
  }
  return {
    async take(key_id, route, limit) {
      if (lost) {
        if (clock.elapsed() < retryAt) return alone(key_id, route, limit)
        retryAt = clock.elapsed() + retryAfterMs
      }
      try {
        const [count, left] = await answered(redis.posthornCount(`posthorn:rate:${key_id}:${route}`, windowMs))
        if (lost) log.info('Redis answers again: rate limits are shared')
        lost = false
        return verdict(count, limit, left)
      } catch (error) {
        missed(error)
        return alone(key_id, route, limit)
      }
    },
    async close() {
      closed.abort()
      redis.disconnect()
    },
  }
}
