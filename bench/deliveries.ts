/** Bench `deliveries`: how fast due webhook deliveries are sent, and what endpoints cost on accepting. */
import { recordEvents, type NewEvent } from '../src/platform/events/outbox.ts'
import { isoTime } from '../src/lib/clock.ts'
import { openApplication } from './application.ts'
import { startDriver } from './drive.ts'
import { compared, interleaved, single, type Measurement } from './figures.ts'
import { receivedAll, startReceiver } from './receiver.ts'
import { allowing, makeEndpoint, medianOf, sendRound, type Round } from './rounds.ts'
import { serve, startService, type Service } from './service.ts'

const due = 100_000
const dueEndpoints = 20

export const drain: Measurement = {
  name: 'drain',
  title: 'Draining due deliveries',
  async run({ quick, say }) {
    using receiver = await startReceiver()
    await using service = await startService({ roles: 'api', env: allowing(receiver) })
    const count = quick ? due / 10 : due
    for (let i = 0; i < dueEndpoints; i++) await makeEndpoint(service, receiver.url, ['package.exhausted'])
    say(`drain: making ${count} deliveries`)
    await makeDue(service, count / dueEndpoints)
    say('drain: draining')
    await using _worker = await serve(service.data_dir, { roles: 'worker', env: allowing(receiver) })
    const { seconds } = await receivedAll(receiver, count)
    return {
      figures: [single('deliveries drained', '/s', count / seconds, { least: 5000 })],
      notes: [
        `${count.toLocaleString('en-US')} due deliveries of ${dueEndpoints} endpoints, a process that starts to work on them, and a receiver that answers at once.`,
      ],
    }
  },
}

async function makeDue(service: Service, events: number): Promise<void> {
  const { pool, account_id } = service
  const app = await openApplication(service)
  const { ids, clock } = app.platform
  for (let done = 0; done < events; done += 1000) {
    const batch = Array.from({ length: Math.min(1000, events - done) }, (): NewEvent => {
      const id = ids('grant')
      return {
        account_id: account_id as NewEvent['account_id'],
        mode: 'live',
        id: ids('evt'),
        type: 'package.exhausted',
        object_id: id,
        object: { id, object: 'package', name: 'Bench', credits_total: 1000, credits_remaining: 0 },
        created_at: isoTime(clock.now()),
      }
    })
    await recordEvents(pool, batch)
  }
  while ((await app.worker('fan-out').tick()) > 0);
}

const manyEndpoints = 500

export const endpoints: Measurement = {
  name: 'endpoints',
  title: 'Five hundred webhook endpoints',
  async run({ quick, say }) {
    using driver = startDriver()
    using receiver = await startReceiver()
    await using none = await startService({ roles: 'api', env: allowing(receiver) })
    await using many = await startService({ roles: 'api', env: allowing(receiver) })
    say('endpoints: creating them')
    for (let i = 0; i < manyEndpoints; i++)
      await makeEndpoint(many, receiver.url, ['message.sent', 'message.delivered', 'message.read', 'message.failed'])
    say('endpoints: accepting')
    const contenders = {
      none: () => sendRound(driver, none, none, { seconds: 1 }),
      many: () => sendRound(driver, many, many, { seconds: 1 }),
    }
    await interleaved(1, contenders)
    const found = await interleaved(quick ? 3 : 5, contenders)
    const cpu = (rounds: readonly Round[]) => medianOf(rounds, 'node_us') + medianOf(rounds, 'postgres_us')
    return {
      figures: [
        compared(
          'CPU for an accepted message, Node and PostgreSQL',
          'µs',
          cpu(found['many']!),
          { name: 'without endpoints', value: cpu(found['none']!) },
          { most: 1.1 },
        ),
      ],
      notes: [],
    }
  },
}
