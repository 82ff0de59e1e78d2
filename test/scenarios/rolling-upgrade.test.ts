/** A rolling upgrade: the previous program runs on the new schema beside the new one (behaviour: operating 3.8). */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { closing } from '../support/closing.ts'
import { testDatabase } from '../support/database.ts'
import { eventsOf, makeKey, startLoad, whenDelivered, whenFinal } from '../support/load.ts'
import { receiverHost } from '../support/receiver.ts'
import { serviceProcess } from '../support/service.ts'
import { testSecretKeys } from '../support/world.ts'

const root = join(import.meta.dirname, '../..')
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** Databases with older migrations are upgraded with all processes stopped. */
const squashedTo = 12

/** The commit before the newest migration; undefined without history. Until there is one after the squashed files it is this commit. */
function commitBefore(): string | undefined {
  try {
    const newest = readdirSync(join(root, 'migrations'))
      .filter((name) => Number.parseInt(name, 10) > squashedTo)
      .toSorted()
      .at(-1)
    if (newest === undefined) return git('rev-parse', '--verify', 'HEAD')
    const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', `migrations/${newest}`)
    return git('rev-parse', '--verify', `${added}^`)
  } catch {
    return undefined
  }
}

const before = commitBefore()

/** Checks out the previous program, with this one's packages; resolves to its command. */
async function checkoutOf(t: TestContext, commit: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-before-'))
  closing(t, () => rmSync(folder, { recursive: true, force: true }))
  const tree = join(folder, 'tree')
  mkdirSync(tree)
  execFileSync('tar', ['-x', '-C', tree], {
    input: execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1024 ** 3 }),
  })
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  const { nodeFlags } = (await import(join(tree, 'scripts/node-flags.mjs'))) as { nodeFlags: readonly string[] }
  return [process.execPath, ...nodeFlags, join(tree, 'src/main.ts')]
}

test(
  'while the previous and this version share a database under load, no request fails and nothing is lost or doubled',
  { skip: before === undefined && 'needs the history of the repository' },
  async (t) => {
    const database = await testDatabase({ empty: true })
    closing(t, () => database.drop())
    const host = await receiverHost()
    closing(t, () => host.close())
    const receiver = host.receiver()
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-upgrade-'))
    closing(t, () => rmSync(folder, { recursive: true, force: true }))
    const settings = {
      DATABASE_URL: database.url,
      POSTHORN_SECRET_KEY: testSecretKeys.current,
      POSTHORN_WEBHOOK_ALLOWED_HOSTS: host.host,
      POSTHORN_RATE_LIMIT_MESSAGES: '1000000',
      POSTHORN_RATE_LIMIT_DEFAULT: '1000000',
      POSTHORN_LOG_LEVEL: 'error',
    }
    const old = await serviceProcess(join(folder, 'old'), settings, await checkoutOf(t, before!))
    closing(t, () => old.kill('service'))
    const next = await serviceProcess(join(folder, 'new'), settings)
    closing(t, () => next.kill('service'))
    await old.start()
    const key = await makeKey(old)
    const endpoint = await old.api(key).post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })
    assert.equal(endpoint.status, 201, JSON.stringify(endpoint.body))
    const onOld = startLoad(old, key)
    closing(t, () => onOld.giveUp())

    await onOld.moved()
    await next.start()
    const onNew = startLoad(next, key, { name: 'n' })
    closing(t, () => onNew.giveUp())
    for (let rounds = 0; rounds < 20; rounds++) await Promise.all([onOld.moved(), onNew.moved()])
    const accepted = new Map([...(await onOld.stop()), ...(await onNew.stop())])
    const stopped = await old.stop()
    const events = await whenFinal(next, key, accepted)
    const reached = await whenDelivered(receiver.received, accepted)
    const doctor = await next.command('doctor', '--json')

    t.diagnostic(`${accepted.size} messages accepted by both, from ${before!.slice(0, 7)} on`)
    assert.deepEqual([...onOld.refusals, ...onNew.refusals], [])
    assert.equal(stopped, 0)
    for (const [id, to] of accepted) {
      assert.deepEqual(events.get(id)?.toSorted(), eventsOf[to], `${id} to ${to}`)
      assert.deepEqual([...(reached.get(id) ?? [])].toSorted(), eventsOf[to], `${id} to ${to}, at the endpoint`)
    }
    assert.equal(events.size, accepted.size)
    assert.equal(doctor.status, 0, doctor.stdout + doctor.stderr)
    assert.equal(old.errors() + next.errors(), '')
    assert.equal(await next.stop(), 0)
  },
)
