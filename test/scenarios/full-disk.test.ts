/** A full disk under load, and a killed database server: clear refusals, automatic recovery, nothing lost or done twice. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { closing } from '../support/closing.ts'
import { eventsOf, startLoad, unlimitedService, whenFinal } from '../support/load.ts'
import type { ServiceProcess } from '../support/service.ts'
import { until } from '../support/waiting.ts'

const clock = systemClock()
/** Documented: a second after there is space, five if PostgreSQL had stopped. Busy machines get many times that. */
const promisedMs = { running: 10_000, stopped: 40_000 }
const diskBytes = '192m'

for (const killed of [false, true]) {
  const name = killed
    ? 'a database that is killed on a full disk is started again once there is room'
    : 'on a full disk sending is 503 and the process is not ready'
  test(`${name}; the service recovers by itself, and nothing is lost or sent twice`, async (t) => {
    const disk = mountedDisk(t)
    if (disk === undefined) return
    const { service, key, load } = await underLoad(t, join(disk, 'data'))
    await load.moved()

    const ballast = fill(join(disk, 'ballast'))
    const notReady = await until(
      'the process to be not ready',
      () => service.api().get('/readyz'),
      ({ status }) => status === 503,
    )
    if (killed) await service.kill('database')
    load.refusals.clear()
    await until(
      'a hundred sends to be refused',
      () => [...load.refusals.values()].reduce((sum, count) => sum + count, 0),
      (count) => count >= 100,
    )
    const figure = /^posthorn_database_writable (\d)$/m.exec((await service.api().get('/metrics')).body)?.[1]
    const waited_ms = await room(service, ballast, load)
    const stopped = service.errors().includes('the embedded database stopped unexpectedly')
    const refusals = [...load.refusals]
    const accepted = await load.stop()
    const events = await whenFinal(service, key, accepted)
    const doctor = await service.command('doctor', '--json')

    t.diagnostic(
      `${accepted.size} accepted; refused ${JSON.stringify(refusals)}; ready after ${waited_ms} ms; PostgreSQL ${stopped ? 'had stopped' : 'went on'}`,
    )
    assert.deepEqual([notReady.body.status, figure], ['not ready', '0'])
    // a commit during the stop of PostgreSQL may have been stored
    const reported = [
      '503 upstream_unavailable',
      ...(stopped ? ['500 internal_error', '409 idempotency_key_in_use'] : []),
    ]
    assert.deepEqual(
      refusals.filter(([refusal]) => !reported.includes(refusal)),
      [],
    )
    assert.ok(waited_ms < promisedMs[stopped ? 'stopped' : 'running'], `${waited_ms} ms`)
    for (const [id, to] of accepted) assert.deepEqual(events.get(id)?.toSorted(), eventsOf[to], `${id} to ${to}`)
    assert.deepEqual(
      [...events.keys()].filter((id) => !accepted.has(id)),
      [],
    )
    assert.equal(doctor.status, 0, doctor.stdout + doctor.stderr)
  })
}

test('an embedded database that is killed under load is back within seconds, and the restart is counted', async (t) => {
  const { service, key, load } = await underLoad(t, join(folder(t), 'data'))
  await load.moved()

  const before = clock.now()
  await service.kill('database')
  await until('the death to be noticed', () => service.errors().includes('the embedded database stopped unexpectedly'))
  await load.moved()
  const waited_ms = clock.now() - before

  const accepted = await load.stop()
  const events = await whenFinal(service, key, accepted)
  t.diagnostic(`back after ${waited_ms} ms`)
  assert.ok(waited_ms < promisedMs.stopped, `${waited_ms} ms`)
  for (const [id, to] of accepted) assert.deepEqual(events.get(id)?.toSorted(), eventsOf[to], `${id} to ${to}`)
  assert.match((await service.api().get('/metrics')).body, /^posthorn_embedded_database_restarts_total 1$/m)
  assert.equal((await service.command('doctor')).status, 0)
})

async function underLoad(t: TestContext, dataDir: string) {
  const { service, key } = await unlimitedService(t, dataDir)
  const load = startLoad(service, key)
  closing(t, () => load.giveUp())
  return { service, key, load }
}

/** Frees space; resolves once messages are accepted again, to the milliseconds until readiness. */
async function room(service: ServiceProcess, ballast: string, load: ReturnType<typeof startLoad>): Promise<number> {
  rmSync(ballast)
  const since = clock.now()
  await until(
    'the process to be ready again',
    () => service.api().get('/readyz'),
    ({ status }) => status === 200,
  )
  const waited_ms = clock.now() - since
  await load.moved()
  return waited_ms
}

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'posthorn-disk-'))
  closing(t, () => rmSync(made, { recursive: true, force: true }))
  return made
}

/** undefined if no small disk can be mounted; the test is then skipped. */
function mountedDisk(t: TestContext): string | undefined {
  const disk = join(folder(t), 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', disk], { stdio: 'pipe' })
  } catch (error) {
    t.skip(`no small disk can be mounted here: ${(error as Error).message.trim()}`)
    return undefined
  }
  closing(t, () => execFileSync('umount', ['-l', disk]))
  return disk
}

function fill(path: string): string {
  const file = openSync(path, 'w')
  try {
    for (let bytes = 1024 * 1024; bytes >= 512;) {
      try {
        if (writeSync(file, Buffer.alloc(bytes)) < bytes) bytes /= 2
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        bytes /= 2
      }
    }
  } finally {
    closeSync(file)
  }
  return path
}
