import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Platform } from '../../../platform/platform.ts'
import { startPlatform } from '../../../../test/support/world.ts'
import { channelLeases } from './leases.ts'

async function twoHolders(t: Parameters<typeof startPlatform>[0]) {
  const { platform, pool, clock } = await startPlatform(t)
  const beat = async (id: string) =>
    void (await pool`insert into processes (id, roles, started_at, heartbeat_at) values (${id}, '{worker}', ${clock.iso()}, ${clock.iso()}) on conflict (id) do update set heartbeat_at = ${clock.iso()}`)
  for (const id of ['one', 'two']) await beat(id)
  const holder = (process_id: string, more: Partial<Platform> = {}) =>
    channelLeases({ ...platform, process_id, ...more })
  return { clock, pool, one: holder('one'), two: holder('two'), holder }
}

test('the owner of a channel lease stops trusting it before another process may acquire it', async (t) => {
  const { clock, one, two } = await twoHolders(t)
  await one.take(['ch_1'])
  const seen: boolean[][] = []

  for (let seconds = 1; seconds <= 12; seconds++) {
    await clock.advance(1000)
    const held = one.holds('ch_1')
    await two.take(['ch_1'])
    seen.push([held, two.holds('ch_1')])
  }

  assert.deepEqual(
    seen.filter(([first, second]) => first && second),
    [],
  )
  assert.deepEqual([seen.findIndex(([first]) => !first), seen.findIndex(([, second]) => second)], [7, 9])
})

test('setting the clock back or ahead does not extend the trust in a lease', async (t) => {
  for (const [jump, trusted] of [
    [-3600_000, 8],
    [3600_000, 0],
  ] as const) {
    const { clock, one } = await twoHolders(t)
    await one.take(['ch_1'])

    clock.jump(jump)
    const seen = [one.holds('ch_1')]
    for (let seconds = 1; seconds <= 12; seconds++) {
      await clock.advance(1000)
      seen.push(one.holds('ch_1'))
    }

    assert.equal(seen.filter(Boolean).length, trusted, String(jump))
  }
})

test('an owner with a late heartbeat keeps its channels as long as it renews them', async (t) => {
  const { clock, one, two } = await twoHolders(t)
  await one.take(['ch_1'])

  for (let seconds = 1; seconds <= 30; seconds++) {
    await clock.advance(1000)
    await one.renew()
    await two.take(['ch_1'])
  }

  assert.deepEqual([one.holds('ch_1'), two.holds('ch_1')], [true, false])
})

test('the channels of a process that signed off or was forgotten are free at once', async (t) => {
  const { pool, one, two } = await twoHolders(t)
  await one.take(['ch_1'])

  await pool`delete from processes where id = 'one'`
  await two.take(['ch_1'])

  assert.equal(two.holds('ch_1'), true)
})

test('a lease is trusted during its renewal', async (t) => {
  const { pool, clock, holder } = await twoHolders(t)
  const asked: (() => void)[] = []
  const slow = new Proxy(pool, {
    apply: (target, self, args) => (asked.forEach((look) => look()), Reflect.apply(target as never, self, args)),
  })
  const three = holder('three', { pool: slow })
  await three.take(['ch_1'])
  const during: boolean[] = []
  asked.push(() => during.push(three.holds('ch_1')))
  await clock.advance(5000)

  await three.renew()

  assert.ok(during.length > 0 && during.every(Boolean), JSON.stringify(during))
})

test('a lease is renewed when half of it is over, and not every time', async (t) => {
  const { clock, pool, one } = await twoHolders(t)
  await one.take(['ch_1'])
  const ends: string[] = []

  for (let seconds = 1; seconds <= 12; seconds++) {
    await clock.advance(1000)
    await one.renew()
    const [lease] = await pool<{ lease_until: string }[]>`select lease_until from channel_leases`
    ends.push(lease!.lease_until)
  }

  assert.equal(new Set(ends).size, 3, ends.join(', '))
  assert.equal(one.holds('ch_1'), true)
})

test('the lease of a channel that was idle for a minute is released, and that of a busy one stays', async (t) => {
  const { clock, pool, one } = await twoHolders(t)
  await one.take(['ch_idle', 'ch_busy'])

  for (let seconds = 1; seconds <= 90; seconds++) {
    await clock.advance(1000)
    one.use('ch_busy')
    await one.renew()
  }

  assert.deepEqual([one.holds('ch_idle'), one.holds('ch_busy')], [false, true])
  assert.deepEqual(
    (await pool<{ channel_id: string }[]>`select channel_id from channel_leases`).map(({ channel_id }) => channel_id),
    ['ch_busy'],
  )
})
