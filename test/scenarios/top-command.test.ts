/** `posthorn top` (behaviour: command-line 12). */
import assert from 'node:assert/strict'
import test from 'node:test'
import { runCli } from '../../src/cli/program.ts'
import { Interval, seriesIn, topWithin } from '../../src/cli/top.ts'
import { boundMs } from '../support/waiting.ts'
import { startWorld } from '../support/world.ts'

const page = (accepted: number, fast: number, all: number) => `# HELP posthorn_x of something
posthorn_messages_accepted_total{mode="live",channel_type="sms"} ${accepted}
posthorn_lag_seconds_bucket{le="0.25"} ${fast}
posthorn_lag_seconds_bucket{le="60"} ${all}
posthorn_lag_seconds_bucket{le="+Inf"} ${all}
posthorn_queue_depth{queue="we\\"bhook"} 7
nonsense {
`

test('rates and shares cover the interval between two updates of all processes, and a restarted one counts from 0', () => {
  const look = (at: number, ...pages: string[]) => ({ at, processes: pages.map(seriesIn) })
  const interval = new Interval(
    look(1_000, page(100, 10, 10), page(500, 0, 0)),
    look(3_000, page(120, 18, 20), page(4, 0, 0)),
  )

  assert.equal(interval.seconds, 2)
  assert.deepEqual([...interval.rates('posthorn_messages_accepted_total', 'mode', 'channel_type')], [['live sms', 12]])
  assert.deepEqual(
    [interval.quantile('posthorn_lag_seconds', 0.5), interval.quantile('posthorn_lag_seconds', 0.99)],
    [0.25, 60],
  )
  assert.equal(interval.quantile('posthorn_nothing', 0.5), null)
  assert.deepEqual([...interval.now('posthorn_queue_depth', 'sum', 'queue')], [['we\\"bhook', 14]])
  assert.deepEqual([...interval.now('posthorn_queue_depth', 'most', 'queue')], [['we\\"bhook', 7]])
})

test('without a terminal it shows a running service once, and names addresses that do not answer', async (t) => {
  const world = await startWorld(t)
  const run = async (...argv: string[]) => {
    let [out, err] = ['', '']
    const exit = await runCli(
      ['top', '--every', '1', ...argv],
      { env: {}, out: (text) => void (out += text), err: (text) => void (err += text) },
      [topWithin(boundMs)],
    )
    return { exit, out, err }
  }
  const shown = await run('--base-url', world.base_url, world.base_url, '--json')
  assert.equal(shown.exit, 0, shown.err)
  const figures = JSON.parse(shown.out)
  assert.deepEqual([figures.object, figures.processes, figures.database_writable], ['top', 2, true])
  const text = await run('--base-url', world.base_url)
  assert.match(text.out, /^accepted +–\n.*\nrequests {4}200 [\d.]+\/s/)
  assert.match(text.out, /database {4}writable/)

  const away = await run('--base-url', 'http://127.0.0.1:1')
  assert.equal(away.exit, 1)
  assert.match(
    away.err,
    /^http:\/\/127\.0\.0\.1:1\/metrics cannot be reached: .*give the address of a process with --base-url\.\n$/,
  )
  const other = await run('--base-url', `${world.base_url}/docs`)
  assert.match(other.err, /is not a Posthorn service/)
})
