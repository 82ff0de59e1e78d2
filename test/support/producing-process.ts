/** A process that submits the test producer's rows. Argument: JSON (`SubmittingProcess`); prints `ready` and a line per submission. */
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { pause, systemClock } from '../../src/lib/clock.ts'
import { openSecrets } from '../../src/platform/secrets/secrets.ts'
import type { Settings } from '../../src/config/settings.ts'
import { testPool } from './pool.ts'
import { submitKeys, testProducer, type TestSubmission } from './producer.ts'

export interface SubmittingProcess extends Omit<TestSubmission, 'keys' | 'more'> {
  readonly database_url: string
  readonly settings: Settings
  readonly name: string
  readonly rows: number
}

const given = JSON.parse(process.argv[2]!) as SubmittingProcess
const pool = testPool(given.database_url, { max: 4, application_name: given.name })
const producer = testProducer()
const app = buildApp({
  pool,
  clock: systemClock(),
  settings: given.settings,
  secrets: await openSecrets(pool, { current: Buffer.alloc(32, 7).toString('base64'), previous: [] }),
  log: pino({ level: 'error' }),
  process_id: given.name,
  roles: ['api'],
  producers: [producer.fragment],
})
process.stdout.write('ready\n')
for (;;) {
  const keys = await producer.waiting(pool, given.rows)
  if (keys.length === 0) break
  const outcomes = await submitKeys(app, { ...given, keys })
  process.stdout.write(`${outcomes.filter(({ kind }) => kind === 'accepted').length}\n`)
  // like a campaign without funds
  if (outcomes.some(({ kind }) => kind === 'no_funds')) await pause(20)
}
await pool.end()
