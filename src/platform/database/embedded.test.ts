import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { closing } from '../../../test/support/closing.ts'
import { fullDatabase } from '../../../test/support/full-database.ts'
import { testPool } from '../../../test/support/pool.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { systemClock } from '../../lib/clock.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { makeLog } from '../observability/log.ts'
import { findPrograms, type Detour } from './binaries.ts'
import { connectEmbedded, startEmbedded } from './embedded.ts'
import { runningPostmaster } from './postmaster.ts'

const log = makeLog('silent')
const isRoot = process.getuid?.() === 0

test('it has its own password, refuses others, uses checksums and fsync, and small WAL segments', async (t) => {
  const dataDir = folder(t)
  const database = await startEmbedded({ dataDir, log })
  closing(t, () => database.stop())

  const [row] = await ask(
    t,
    database.url,
    "select current_setting('fsync') as fsync, current_setting('data_checksums') as checksums, current_setting('wal_segment_size') as segment",
  )
  const stranger = new URL(database.url)
  stranger.password = 'wrong'

  assert.deepEqual(row, { fsync: 'on', checksums: 'on', segment: '1MB' })
  await assert.rejects(ask(t, stranger.href, 'select 1'), /password authentication failed/)
  assert.equal((await stat(join(dataDir, 'postgres/posthorn.password'))).mode & 0o777, 0o600)
})

test('after a kill it is back at the same address with committed data', async (t) => {
  const database = await startEmbedded({ dataDir: folder(t), log, throwaway: true })
  closing(t, () => database.stop())
  await ask(t, database.url, 'create table kept as select 1 as x')
  const before = database.pid

  process.kill(before, 'SIGKILL')
  await until('another server to stand', () => database.pid !== before)

  assert.equal((await ask(t, database.url, 'select x from kept')).length, 1)
})

test('after its parent was killed the next start adopts it, and the last process stops it', async (t) => {
  const dataDir = folder(t)
  const { child, pid, url } = await holder(t, dataDir)
  child.kill('SIGKILL')
  await within('the holder to be dead', once(child, 'exit'))

  const adopted = await startEmbedded({ dataDir, log, throwaway: true })
  const command = await connectEmbedded({ dataDir, log, throwaway: true })

  assert.deepEqual([adopted.pid, adopted.url, command.pid], [pid, url, pid])
  await command.stop()
  // the server notices late that the others have gone
  await until(
    'one alone to hold it',
    () => ask(t, url, "select 1 from pg_locks where locktype = 'advisory'"),
    (holders) => holders.length === 1,
  )
  await adopted.stop()
  assert.equal(await runningPostmaster(join(dataDir, 'postgres')), undefined)
  assert.match(await readFile(join(dataDir, 'postgres.log'), 'utf8'), /database system is shut down\s*$/)
})

test('many processes can start on an empty folder at once and share one server', async (t) => {
  const dataDir = folder(t)

  const all = await Promise.all(Array.from({ length: 4 }, () => startEmbedded({ dataDir, log, throwaway: true })))

  assert.equal(new Set(all.map((one) => one.pid)).size, 1)
  await Promise.all(all.map((one) => one.stop()))
  assert.equal(await runningPostmaster(join(dataDir, 'postgres')), undefined)
})

test('a pid file with the pid of another program does not prevent a start', async (t) => {
  const dataDir = folder(t)
  const first = await startEmbedded({ dataDir, log, throwaway: true })
  await first.stop()
  await writeFile(
    join(dataDir, 'postgres/postmaster.pid'),
    `${process.ppid}\n${join(dataDir, 'postgres')}\n1\n5432\n\n127.0.0.1\n\nready   \n`,
  )

  const second = await startEmbedded({ dataDir, log, throwaway: true })
  closing(t, () => second.stop())

  assert.equal((await ask(t, second.url, 'select 1')).length, 1)
})

test('an unusable data folder is refused with one line that names the problem', async (t) => {
  const occupied = folder(t)
  await writeFile(join(occupied, 'postgres'), 'a file')
  const dataDir = folder(t)
  await (await startEmbedded({ dataDir, log, throwaway: true })).stop()
  const refusal = async (dir: string) => {
    const error = await startEmbedded({ dataDir: dir, log, throwaway: true }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof OperatorError, String(error))
    assert.equal(error.message.includes('\n'), false)
    return error.message
  }

  assert.match(await refusal(occupied), /cannot be created in .*postgres: .*Move that folder away/)
  await rename(join(dataDir, 'postgres/posthorn.password'), join(dataDir, 'password'))
  assert.match(
    await refusal(dataDir),
    /The password of the embedded database cannot be read: .* Restore .* from a backup\./,
  )
  await rename(join(dataDir, 'password'), join(dataDir, 'postgres/posthorn.password'))
  await rename(join(dataDir, 'postgres/global/pg_control'), join(dataDir, 'pg_control'))
  assert.match(await refusal(dataDir), /did not start: .*could not find the database system \(.*postgres\.log\)$/)
  await rename(join(dataDir, 'pg_control'), join(dataDir, 'postgres/global/pg_control'))
  await writeFile(join(dataDir, 'postgres/PG_VERSION'), '9\n')
  assert.match(await refusal(dataDir), /did not start: .*incompatible/)
})

test('a server that refuses logins because its disk is full is reported immediately with its own message', async (t) => {
  const dataDir = folder(t)
  const database = await startEmbedded({ dataDir, log, throwaway: true })
  closing(t, () => database.stop())
  // the server of the folder answers as PostgreSQL does on a full disk
  const [pidFile, full] = [join(dataDir, 'postgres/postmaster.pid'), await fullDatabase(t)]
  const lines = (await readFile(pidFile, 'utf8')).split('\n')
  await writeFile(pidFile, lines.with(3, String(full.port)).join('\n'))

  await assert.rejects(
    within('the refusal', connectEmbedded({ dataDir, log, throwaway: true })),
    (error) =>
      error instanceof OperatorError &&
      /^The embedded database refuses connections: could not write init file: No space left on device\. [^\n]*$/.test(
        error.message,
      ),
  )
  assert.equal(full.refused(), 1)
  await writeFile(pidFile, lines.join('\n'))
})

test('the end of a program is noticed, however busy this process is with files', async (t) => {
  const dataDir = folder(t)
  const programs = await findPrograms(dataDir)

  const starting = programs.start('postgres', dataDir, () => ['--version'], ['ignore', 'pipe', 'pipe'], false)
  // keep every thread of the pool busy
  const busy = Array.from({ length: 16 }, () => promisify(pbkdf2)('', '', 150_000, 64, 'sha512'))
  const child = await starting
  const missed = child.exitCode !== null || child.signalCode !== null

  if (!missed) await within('the program to end', once(child, 'exit'))
  assert.equal(missed, false)
  await Promise.all(busy)
})

test('a machine that takes over a minute to create and start a cluster still gets a database', async (t) => {
  const machine = systemClock()
  let slow_ms = 0
  const clock = { ...machine, now: () => machine.now() + slow_ms }

  const database = await startEmbedded({
    dataDir: folder(t),
    log,
    throwaway: true,
    clock,
    onStarted: () => (slow_ms = 61_000),
  })
  closing(t, () => database.stop())

  assert.equal((await ask(t, database.url, 'select 1')).length, 1)
})

test('a cluster that lost its database gets a new one', async (t) => {
  const dataDir = folder(t)
  const first = await startEmbedded({ dataDir, log, throwaway: true })
  const elsewhere = new URL(first.url)
  elsewhere.pathname = '/template1'
  const made = await ask(t, elsewhere.href, 'select datname from pg_database order by datname')
  await ask(t, elsewhere.href, 'drop database posthorn with (force)')
  await first.stop()

  const second = await startEmbedded({ dataDir, log, throwaway: true })
  closing(t, () => second.stop())

  assert.deepEqual(
    made.map((row) => Object.values(row)[0]),
    ['posthorn', 'template0', 'template1'],
  )
  assert.equal((await ask(t, second.url, 'select 1')).length, 1)
})

for (const detour of ['uid', 'namespace', 'copy'] as const satisfies Detour[]) {
  test(
    `root runs it ${{ uid: 'as another user', namespace: 'in a user namespace', copy: 'from a reachable copy' }[detour]}`,
    { skip: !isRoot && 'only root needs a detour' },
    async (t) => {
      const dataDir = detour === 'uid' ? folder(t) : folder(t, homedir())
      const start = () => startEmbedded({ dataDir, log, throwaway: true, detours: [detour] })
      const first = await start().catch((error: Error) => error)
      // a container may forbid namespaces, and a checkout in a private home the first way
      if (first instanceof Error && /no way around/.test(first.message) && detour !== 'copy')
        return t.skip('not possible here')
      if (first instanceof Error) throw first
      await ask(t, first.url, 'create table kept as select 1 as x')
      await first.stop()

      const second = await start()
      closing(t, () => second.stop())

      assert.equal((await ask(t, second.url, 'select x from kept')).length, 1)
      if (process.platform === 'linux') assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
    },
  )
}

function folder(t: TestContext, under = tmpdir()): string {
  const made = mkdtempSync(join(under, '.posthorn-embedded-'))
  closing(t, () => rmSync(made, { recursive: true, force: true }))
  return made
}

async function ask(t: TestContext, url: string, text: string): Promise<readonly object[]> {
  const pool = testPool(url, { max: 1 })
  closing(t, () => pool.end({ timeout: 1 }))
  const rows = await pool.unsafe(text)
  await pool.end({ timeout: 1 })
  return rows.map((row) => ({ ...row }))
}

async function holder(t: TestContext, dataDir: string) {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../../test/support/hold-embedded.ts'), dataDir],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  closing(t, () => child.kill('SIGKILL'))
  const [line] = (await within('the holder to hold it', once(child.stdout, 'data'))) as [Buffer]
  return { child, ...(JSON.parse(line.toString()) as { url: string; pid: number }) }
}
