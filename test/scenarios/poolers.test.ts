/** A connection pooler in front of the database (behaviour: operating 3.7). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { refuseSharedConnections } from '../../src/platform/database/pooler.ts'
import { OperatorError } from '../../src/lib/operator-error.ts'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { makeKey } from '../support/load.ts'
import { ownPort } from '../support/own-port.ts'
import { testPool } from '../support/pool.ts'
import { serviceProcess } from '../support/service.ts'
import { until, within } from '../support/waiting.ts'

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path))
// in CI a missing program fails instead
const skip =
  program === undefined && process.env['CI'] === undefined && 'needs PgBouncer (Debian: `apt install pgbouncer`)'
const nobody = 65_534

/** Starts PgBouncer; resolves to the address through it. */
async function bounced(t: TestContext, url: string, mode: 'session' | 'transaction', more: string): Promise<string> {
  const server = new URL(url)
  const port = await ownPort()
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-pgbouncer-'))
  closing(t, () => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
it = host=${server.hostname} port=${server.port} dbname=${server.pathname.slice(1)} user=${server.username} password=${decodeURIComponent(server.password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,extra_float_digits
${more}
`,
  )
  await chmod(folder, 0o755)
  const child = spawn(program!, ['-q', file], {
    stdio: 'ignore',
    ...(process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}),
  })
  closing(t, async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await within('PgBouncer to end', once(child, 'exit'))
  })
  await until('PgBouncer to listen', () => canConnect(port), Boolean)
  return `postgres://${server.username}@127.0.0.1:${port}/it`
}

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

async function look(t: TestContext, url: string): Promise<void> {
  const pool = testPool(url, { max: 2 })
  closing(t, () => pool.end({ timeout: 1 }))
  await refuseSharedConnections(pool, systemClock())
}

test(
  'PostgreSQL and a pooler in session mode are accepted, and a pooler that shares connections is refused with one clear line',
  { skip },
  async (t) => {
    const database = await testDatabase()
    closing(t, () => database.drop())
    await look(t, database.url)
    await look(t, await bounced(t, database.url, 'session', ''))
    for (const more of ['', 'server_round_robin = 1', 'default_pool_size = 1']) {
      const url = await bounced(t, database.url, 'transaction', more)
      await assert.rejects(look(t, url), (error: unknown) => {
        assert.ok(error instanceof OperatorError, String(error))
        assert.match(
          error.message,
          /^DATABASE_URL leads to a connection pooler that shares connections between transactions .*session mode\.$/,
        )
        return true
      })
    }
  },
)

test(
  'the service runs behind a pooler in session mode, and exits with a clear line behind one in transaction mode',
  { skip },
  async (t) => {
    const database = await testDatabase()
    closing(t, () => database.drop())
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-pooled-'))
    closing(t, () => rm(folder, { recursive: true, force: true }))
    const behind = async (mode: 'session' | 'transaction') => {
      const service = await serviceProcess(folder, {
        DATABASE_URL: await bounced(t, database.url, mode, ''),
        POSTHORN_LOG_LEVEL: 'error',
      })
      closing(t, () => service.kill('service'))
      return service
    }
    const pooled = await behind('session')
    await pooled.start()
    const api = pooled.api(await makeKey(pooled))
    const sent = await api.post('/v1/messages', {
      channel: 'ch_test_sms',
      to: '+15005550006',
      type: 'text',
      text: { body: 'Hello' },
    })
    assert.equal(sent.status, 202)
    await until(
      'the message to be delivered, which takes what is announced between sessions',
      async () => (await api.get(`/v1/messages/${sent.body.id}`)).body.status,
      (status) => status === 'delivered',
    )
    assert.equal(await pooled.stop(), 0)
    await assert.rejects((await behind('transaction')).start(), /exit 1.*shares connections between transactions/s)
  },
)
