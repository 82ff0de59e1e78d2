/** Rate limits shared through Redis, beside those of the process. Left out with a word where no redis-server is installed. */
import { spawn, spawnSync } from 'node:child_process'
import { medianOf, sendRound } from './accept.ts'
import { startDriver } from './drive.ts'
import { compared, interleaved, type Measurement } from './figures.ts'
import { freePort } from '../src/lib/free-port.ts'
import { reachable } from './ports.ts'
import { endProcess, startService } from './service.ts'

export const redis: Measurement = {
  name: 'redis',
  title: 'Rate limits shared through Redis',
  async run({ quick, say }) {
    if (spawnSync('redis-server', ['--version']).status !== 0) return { figures: [], notes: ['Left out: there is no redis-server on this machine.'] }
    const port = await freePort()
    const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' })
    const driver = startDriver()
    await reachable(port)
    const alone = await startService({ roles: 'api' })
    const shared = await startService({ roles: 'api', env: { REDIS_URL: `redis://127.0.0.1:${port}` } })
    try {
      say('redis: accepting')
      const contenders = { alone: () => sendRound(driver, alone, alone, 1.25), shared: () => sendRound(driver, shared, shared, 1.25) }
      await interleaved(1, contenders)
      const found = await interleaved(quick ? 3 : 5, contenders)
      return {
        figures: [
          compared(
            'messages accepted a second',
            '/s',
            medianOf(found['shared']!, 'rate'),
            { name: 'limits of the process', value: medianOf(found['alone']!, 'rate') },
            { least: 0.85 },
          ),
          compared('Node CPU for a message', 'µs', medianOf(found['shared']!, 'node_us'), {
            name: 'limits of the process',
            value: medianOf(found['alone']!, 'node_us'),
          }),
        ],
        notes: [],
      }
    } finally {
      await shared.stop()
      await alone.stop()
      driver.stop()
      await endProcess(server)
    }
  },
}
