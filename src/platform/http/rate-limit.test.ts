import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import test from 'node:test'
import { pino } from 'pino'
import { fakeClock } from '../../../test/support/clock.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { makeMetrics, type Metrics } from '../observability/metrics.ts'
import { processRateLimiter, type RateLimiter } from './rate-limit.ts'
import { redisRateLimiter } from './redis-rate-limit.ts'

test('a window starts with its first request and lasts a second', async () => {
  const clock = fakeClock()
  const limiter = processRateLimiter(clock)
  const take = () => limiter.take('key_a', 1, 2)

  const first = take()
  await clock.advance(999)
  const others = [take(), take()]
  await clock.advance(1)

  assert.deepEqual(first, { allowed: true, remaining: 1, reset_s: 1 })
  assert.deepEqual(others, [
    { allowed: true, remaining: 0, reset_s: 1 },
    { allowed: false, remaining: 0, reset_s: 1 },
  ])
  assert.deepEqual(take(), { allowed: true, remaining: 1, reset_s: 1 })
  assert.equal(limiter.take('key_a', 2, 2).remaining, 1)
  assert.equal(limiter.take('key_b', 1, 2).remaining, 1)
})

test('memory is bounded with any number of keys', () => {
  const limiter = processRateLimiter(fakeClock())

  for (let i = 0; i < 60_000; i++) limiter.take(`key_${i}`, 1, 1)

  assert.equal(limiter.take('key_0', 1, 1).allowed, true)
  assert.equal(limiter.take('key_59999', 1, 1).allowed, false)
})

test('limits are shared through Redis in one round trip; without it they apply per process', async (t) => {
  const redis = await fakeRedis()
  t.after(() => redis.close())
  const metrics = makeMetrics()
  const [one, other] = [1, 2].map(() => redisRateLimiter(redis.url, fakeClock(), pino({ level: 'silent' }), metrics))
  t.after(() => Promise.all([one!.close(), other!.close()]))
  await Promise.all([one!, other!].map((limiter) => reached(limiter, metrics)))
  metrics.rate_limit_fallbacks.reset()

  const shared = [await one!.take('key_a', 1, 2), await other!.take('key_a', 1, 2), await one!.take('key_a', 1, 2)]
  redis.close()
  const alone = [await one!.take('key_a', 1, 2), await other!.take('key_a', 1, 2)]

  assert.deepEqual(
    shared.map(({ allowed, remaining }) => [allowed, remaining]),
    [
      [true, 1],
      [true, 0],
      [false, 0],
    ],
  )
  assert.deepEqual(
    alone.map(({ allowed, remaining }) => [allowed, remaining]),
    [
      [true, 1],
      [true, 1],
    ],
  )
  assert.equal((await metrics.rate_limit_fallbacks.get()).values[0]!.value, 2)
})

test('one request a second waits for a Redis that hangs; limits are shared again once it answers', async (t) => {
  const redis = await fakeRedis()
  t.after(() => redis.close())
  const [metrics, clock] = [makeMetrics(), fakeClock()]
  const limiter = redisRateLimiter(redis.url, clock, pino({ level: 'silent' }), metrics)
  t.after(() => limiter.close())
  await reached(limiter, metrics)
  const before = redis.asked()

  redis.hang(true)
  const first = limiter.take('key_a', 1, 10)
  await until('Redis to be asked', () => redis.asked() > before)
  await clock.advance(250)
  await within('a Redis that hangs to be given up', Promise.resolve(first))
  for (let i = 1; i < 5; i++) await limiter.take('key_a', 1, 10)
  const asked = redis.asked() - before
  redis.hang(false)
  await clock.advance(1000)
  const shared = [await limiter.take('key_a', 1, 10), await limiter.take('key_a', 1, 10)]

  assert.equal(asked, 1)
  assert.deepEqual(
    shared.map(({ remaining }) => remaining),
    [8, 7],
  )
})

/** Repeats until Redis answers. */
async function reached(limiter: RateLimiter, metrics: Metrics): Promise<void> {
  const fallbacks = async () => (await metrics.rate_limit_fallbacks.get()).values[0]?.value ?? 0
  await until('Redis to answer', async () => {
    const before = await fallbacks()
    await limiter.take('warm', 0, 1)
    return before === (await fallbacks())
  })
}

/** Counts by key, and never forgets. */
async function fakeRedis() {
  const counts = new Map<string, number>()
  const sockets = new Set<Socket>()
  const late: (() => void)[] = []
  let [asked, hangs] = [0, false]
  const server = createServer((socket) => {
    sockets.add(socket)
    let unread = ''
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        const { commands, rest } = commandsOf(unread + bytes.toString())
        unread = rest
        for (const command of commands) {
          const name = command[0]!.toLowerCase()
          if (name === 'evalsha' || name === 'eval') {
            const count = (counts.get(command[3]!) ?? 0) + 1
            counts.set(command[3]!, count)
            asked += 1
            const tell = () => socket.write(`*2\r\n:${count}\r\n:1000\r\n`)
            if (hangs) late.push(tell)
            else tell()
          } else if (name === 'info') socket.write('$9\r\nloading:0\r\n')
          else socket.write('+OK\r\n')
        }
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `redis://127.0.0.1:${(server.address() as { port: number }).port}`,
    asked: () => asked,
    hang(how: boolean) {
      hangs = how
      for (const tell of late.splice(0)) tell()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Parses complete RESP commands, and returns the rest. */
function commandsOf(text: string): { readonly commands: string[][]; readonly rest: string } {
  const commands: string[][] = []
  const lines = text.split('\r\n')
  let at = 0
  for (;;) {
    const length = Number(lines[at]?.slice(1))
    const end = at + 1 + length * 2
    if (!(end < lines.length)) return { commands, rest: lines.slice(at).join('\r\n') }
    commands.push(Array.from({ length }, (_, i) => lines[at + 2 + i * 2]!))
    at = end
  }
}
