/** Bench `redis`: rate limits shared through Redis beside those in memory. Skipped without redis-server. */
import { spawn, spawnSync } from 'node:child_process'
import { startDriver } from './drive.ts'
import { compared, interleaved, type Measurement } from './figures.ts'
import { freePort } from '../src/lib/system.ts'
import { reachable } from './ports.ts'
import { medianOf, sendRound } from './rounds.ts'
import { runningOf, startService } from './service.ts'

export const redis: Measurement = {
  name: 'redis',
  title: 'Rate limits shared through Redis',
  async run({ quick, say }) {
    if (spawnSync('redis-server', ['--version']).status !== 0)
      return { figures: [], notes: ['Left out: there is no redis-server on this machine.'] }
    const port = await freePort()
    const server = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    )
    await using _server = runningOf(server, port)
    using driver = startDriver()
    await reachable(port)
    await using alone = await startService({ roles: 'api' })
    await using shared = await startService({ roles: 'api', env: { REDIS_URL: `redis://127.0.0.1:${port}` } })
    say('redis: accepting')
    const contenders = {
      alone: () => sendRound(driver, alone, alone, { seconds: 1.25 }),
      shared: () => sendRound(driver, shared, shared, { seconds: 1.25 }),
    }
    await interleaved(1, contenders)
    const found = await interleaved(quick ? 3 : 5, contenders)
    const limits = (field: 'rate' | 'node_us') => ({
      name: 'limits of the process',
      value: medianOf(found['alone']!, field),
    })
    return {
      figures: [
        compared('messages accepted a second', '/s', medianOf(found['shared']!, 'rate'), limits('rate'), {
          least: 0.85,
        }),
        compared('Node CPU for a message', 'µs', medianOf(found['shared']!, 'node_us'), limits('node_us')),
      ],
      notes: [],
    }
  },
}
