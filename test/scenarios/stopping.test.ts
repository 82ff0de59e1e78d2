/** Stopping a busy service answers every client until none can connect (behaviour: operating 4). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { hmacHex } from '../../src/lib/hmac.ts'
import type { Api } from '../support/api.ts'
import { closing } from '../support/closing.ts'
import { serviceProcess } from '../support/service.ts'
import { until } from '../support/waiting.ts'
import { effort } from '../support/effort.ts'

/** The last log line; a busy machine may log a timeout instead. */
const lastWord =
  /(?:^|\n)\{[^\n]*"msg":"(?:stopped|work in progress did not finish in time; it continues after the next start|the database connections did not close in time)"\}\n$/
const rounds = effort(1, 5)
const senders = 24
/** The runner's limit, plus time for each round. */
const timeout = 900_000 + rounds * 60_000

interface Tally {
  answered: number
  last: number
  refused: number
  readonly problems: string[]
}

test(
  'a stopping service answers every client, on reused and new connections, until it stops listening',
  { timeout },
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-stopping-'))
    closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
    const service = await serviceProcess(dataDir, {
      POSTHORN_RATE_LIMIT_MESSAGES: '1000000',
      POSTHORN_LOG_LEVEL: 'error',
    })
    closing(t, () => service.stop())
    let key: string | undefined
    const all: Tally = { answered: 0, last: 0, refused: 0, problems: [] }

    for (let round = 0; round < rounds; round++) {
      await service.start()
      key ??= await makeKey(service)
      const tally: Tally = { answered: 0, last: 0, refused: 0, problems: [] }
      const agent = new Agent({ keepAlive: true, maxSockets: senders })
      const sending = Array.from({ length: senders }, () => sendUntilRefused(service.base_url, key!, agent, tally))
      await until(
        'messages to be accepted',
        () => tally,
        ({ answered, problems }) => answered > 20 * senders || problems.length > 0,
      )
      const code = await service.stop()
      await Promise.all(sending)
      agent.destroy()
      assert.equal(code, 0)
      all.answered += tally.answered
      all.last += tally.last
      all.refused += tally.refused
      all.problems.push(...tally.problems)
    }

    t.diagnostic(`${all.answered} answers over ${rounds} stops, ${all.last} of them the last of their connection`)
    assert.deepEqual(all.problems, [])
    assert.equal(all.refused, rounds * senders, 'each sender ends by finding that nobody listens')
    assert.ok(all.last >= rounds * senders, String(all.last))
    assert.equal(service.errors(), '')
  },
)

test('the process ends after its last log line, whatever connections are open', async (t) => {
  const script =
    "if (process.argv.includes('serve')) import('node:net').then(({ createServer }) => createServer().listen(0, '127.0.0.1'))"
  const kept = `--import=data:text/javascript,${encodeURIComponent(script)}`
  const { service, api } = await liveService(t, { NODE_OPTIONS: kept })
  const channel = await simulated(api, { credentials: { callback_secret: 's3cret' } })
  for (const n of Array.from({ length: 18 }, (_, at) => at)) {
    const media = [{ index: 0, reference: { url: `https://no-such-name-${n}.invalid/f.png` } }]
    const report = {
      kind: 'inbound',
      provider_id: `in-${n}`,
      from: '+4915112345678',
      type: 'attachments',
      content: [{ type: 'image' }],
      media,
    }
    const body = JSON.stringify({ reports: [report] })
    const { status } = await service
      .api()
      .post(`/hooks/channels/${channel}`, body, { 'x-simulator-signature': hmacHex('s3cret', body) })
    assert.equal(status, 200)
  }
  await until(
    'the files to be looked for',
    () => service.errors(),
    (log) => log.includes('a file could not be copied'),
  )

  const code = await service.stop()

  assert.equal(code, 0)
  assert.match(service.errors(), lastWord, 'the log is written to its end')
})

test('a stop that cannot wait for hanging providers logs so once, and no database errors', async (t) => {
  const { service, api } = await liveService(t)
  const channel = await simulated(api, { credentials: { callback_secret: 's3cret' }, settings: { latency_ms: 60_000 } })
  for (let n = 0; n < 20; n++) {
    const { status, body } = await api.post('/v1/messages', {
      channel,
      to: `+49151123456${10 + n}`,
      type: 'text',
      text: { body: 'Hello' },
    })
    assert.equal(status, 202, JSON.stringify(body))
  }

  const code = await service.stop()

  const reported = service
    .errors()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; msg: string })
  assert.equal(code, 0)
  assert.equal(reported.filter(({ msg }) => msg.startsWith('work in progress did not finish in time')).length, 1)
  assert.deepEqual(
    reported.filter(({ level }) => level === 'error'),
    [],
  )
})

async function liveService(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-stopping-'))
  closing(t, () => rmSync(dataDir, { recursive: true, force: true }))
  const service = await serviceProcess(dataDir, { POSTHORN_SIMULATOR: 'true', POSTHORN_LOG_LEVEL: 'info', ...settings })
  closing(t, () => service.kill('service'))
  await service.start()
  return { service, api: service.api(await makeKey(service, 'live')) }
}

async function simulated(api: Api, given: object): Promise<string> {
  const { status, body } = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'simulator',
    name: 'Inbox',
    identifier: '+4915100000001',
    ...given,
  })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id as string
}

async function makeKey(
  service: Awaited<ReturnType<typeof serviceProcess>>,
  mode: 'test' | 'live' = 'test',
): Promise<string> {
  const account = JSON.parse((await service.command('accounts', 'create', '--name', 'Stopping', '--json')).stdout) as {
    id: string
  }
  if (mode === 'live') await service.command('wallet', 'credit', '--account', account.id, '--amount-micros', '1000000')
  const made = await service.command(
    'keys',
    'create',
    '--account',
    account.id,
    '--mode',
    mode,
    '--scopes',
    'all',
    '--json',
  )
  return (JSON.parse(made.stdout) as { key: string }).key
}

/** Sends messages one after the other until a connect is refused. */
async function sendUntilRefused(base_url: string, key: string, agent: Agent, tally: Tally): Promise<void> {
  for (let number = 0; number < 1_000_000; number++) {
    const outcome = await sendOne(base_url, key, agent)
    if (outcome === 'refused') {
      tally.refused++
      return
    }
    if (outcome.problem === undefined) tally.answered++
    else tally.problems.push(outcome.problem)
    if (outcome.last) tally.last++
  }
}

type Outcome = 'refused' | { readonly problem?: string; readonly last?: boolean }

function sendOne(base_url: string, key: string, agent: Agent): Promise<Outcome> {
  const body = JSON.stringify({
    channel: 'ch_test_whatsapp',
    to: '+15005550006',
    type: 'text',
    text: { body: 'Hello' },
  })
  return new Promise((resolve) => {
    const sent = request(`${base_url}/v1/messages`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // if it could not connect, nothing was sent
      resolve(
        error.syscall === 'connect'
          ? 'refused'
          : { problem: `${error.code} ${error.message}, on a ${sent.reusedSocket ? 'kept' : 'new'} connection` },
      )
    })
    sent.on('response', (answer) => {
      const last = answer.headers.connection === 'close'
      answer.resume()
      answer.on('end', () =>
        resolve(answer.statusCode === 202 ? { last } : { last, problem: `status ${answer.statusCode}` }),
      )
      answer.on('error', (error) => resolve({ problem: `${error.message} while answering` }))
    })
    sent.end(body)
  })
}
