/** `posthorn campaigns …` (behaviour: command-line 7). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { groups } from '../../src/cli/groups.ts'
import { runCli } from '../../src/cli/program.ts'
import { passFor } from '../support/campaigns.ts'
import { until, within } from '../support/waiting.ts'
import { startWorld, testSecretKeys } from '../support/world.ts'

async function shop(t: TestContext) {
  const world = await startWorld(t)
  const env = {
    DATABASE_URL: world.database_url,
    POSTHORN_SECRET_KEY: testSecretKeys.current,
    POSTHORN_DATA_DIR: world.platform.settings.data_dir,
  }
  const { api, id: account } = await world.account()
  const posthorn = (argv: readonly string[], rewrites = false) => {
    const seen = { out: '', err: '' }
    const terminal = {
      env,
      rewrites,
      out: (text: string) => void (seen.out += text),
      err: (text: string) => void (seen.err += text),
    }
    const ended = runCli(['campaigns', ...argv], terminal, groups).then((code) => ({ code, ...seen }))
    return { seen, ended }
  }
  const create = async (name: string, more: object = {}): Promise<string> => {
    const recipients = [{ to: '+15005550006' }, { to: '+15005550001' }, { to: '+15005550006' }]
    const body = {
      name,
      channel: 'ch_test_sms',
      audience: { type: 'adhoc', recipients },
      message: { type: 'text', text: { body: 'Hello' } },
      ...more,
    }
    return (await api.post('/v1/campaigns', body)).body.id
  }
  return { world, account, api, posthorn, create }
}

const launched = { launch: true, consent_declared: true }

test('campaigns list shows them newest first with status and progress, and campaigns show shows figures', async (t) => {
  const { world, posthorn, create } = await shop(t)
  const none = await posthorn(['list']).ended
  const first = await create('Spring sale', launched)
  await passFor(world, 3000)
  const second = await create('Summer sale')

  const listed = await posthorn(['list']).ended
  const completed = await posthorn(['list', '--status', 'completed', '--json']).ended
  const shown = await posthorn(['show', first]).ended
  const json = await posthorn(['show', first, '--json']).ended

  assert.equal(none.out, 'No campaigns match.\n')
  assert.deepEqual(listed.out.split('\n'), [
    `${second}  test  draft        0 %  0/0            Summer sale`,
    `${first}  test  completed  100 %  3/3            Spring sale`,
    '',
  ])
  assert.deepEqual(
    JSON.parse(completed.out).map(({ id }: { id: string }) => id),
    [first],
  )
  assert.match(shown.out, /status {6}completed, 100 % done\n/)
  assert.match(
    shown.out,
    /recipients {2}3: 0 queued, 1 sent \(1 delivered, 0 read\), 1 failed, 1 skipped, 0 cancelled\n {2}skipped {5}1 duplicate\n/,
  )
  assert.match(
    shown.out,
    /cost {8}0\.00 USD and 0 credits; estimated 0\.00 USD and 0 credits\n {2}times {7}created 2026-/,
  )
  assert.deepEqual([JSON.parse(json.out).object, JSON.parse(json.out).counters.failed], ['campaign', 1])
})

test('a campaign is found by its id among all accounts, and control characters in its name are escaped', async (t) => {
  const { world, account, posthorn, create } = await shop(t)
  const other = await world.account()
  const name = 'Spring\u001b[2J\nsale'
  const id = await create(name, launched)
  await passFor(world, 3000)

  const ended = [
    ['show', id],
    ['show', id, '--account', account],
    ['watch', id],
    ['list', '--account', account],
  ]
  const found = await Promise.all(ended.map((argv) => posthorn(argv).ended))
  const json = await posthorn(['show', id, '--json']).ended
  const refused = [
    await posthorn(['show', id, '--account', other.id]).ended,
    await posthorn(['show', 'cmp_\u001b[2J']).ended,
  ]

  assert.deepEqual(
    found.map(({ code }) => code),
    [0, 0, 0, 0],
  )
  for (const { out } of [found[0]!, found[1]!, found[3]!]) assert.match(out, /Spring\\u001b\[2J\\u000asale/)
  assert.ok(found.every(({ out }) => !out.includes('\u001b')))
  assert.equal(JSON.parse(json.out).name, name)
  for (const { code, err } of refused)
    assert.match(`${code} ${err}`, /^1 No campaign has the id "cmp_.*`posthorn campaigns list` shows them\.\n$/)
})

test('campaigns watch follows a campaign until it ends: one line rewritten on a terminal, lines elsewhere, one value as JSON', async (t) => {
  const { world, api, posthorn, create } = await shop(t)
  const id = await create('Spring sale', { ...launched, throttle_per_second: 1 })
  const watches = [posthorn(['watch', id]), posthorn(['watch', id], true), posthorn(['watch', id, '--json'])]
  await until('the campaign to be watched', () => watches.slice(0, 2).every(({ seen }) => seen.out !== ''))
  await passFor(world, 200)
  await api.post(`/v1/campaigns/${id}/pause`)
  await until('the pause to be reported', () => watches[0]!.seen.out.includes('paused (user)'))
  await api.post(`/v1/campaigns/${id}/resume`)
  await passFor(world, 5000)

  const [plain, terminal, json] = await within('the watches to end', Promise.all(watches.map(({ ended }) => ended)))

  const ended = '[########################] 100 %  3/3  completed  1 failed, 1 skipped'
  assert.deepEqual([plain!.code, terminal!.code, json!.code], [0, 0, 0], plain!.err)
  const lines = plain!.out.trimEnd().split('\n')
  assert.match(lines[0]!, /^\[\.{24}\] {3}0 % {2}0\/0 {2}queued$/)
  assert.equal(lines.at(-1), ended)
  assert.ok(!plain!.out.includes('\r'))
  assert.ok(
    terminal!.out.startsWith('\r\u001b[K[....') && terminal!.out.endsWith(`\r\u001b[K${ended}\n`),
    JSON.stringify(terminal!.out),
  )
  assert.deepEqual([json!.out.split('\n').length, JSON.parse(json!.out).status], [2, 'completed'])
})

test('campaigns watch exits with a code for a failed campaign, and refuses drafts and unknown ids', async (t) => {
  const { posthorn, create, world, account } = await shop(t)
  const id = await create('Spring sale', launched)
  const draft = await create('Summer sale')
  await world.services.accounts.suspend(account)

  const failed = await posthorn(['watch', id]).ended
  const refused = await posthorn(['watch', draft]).ended
  const unknown = await posthorn(['show', 'cmp_nothing']).ended
  const usage = await posthorn(['list', '--status', 'gone']).ended

  assert.deepEqual(
    [failed.code, failed.out],
    [1, '[........................]   0 %  0/0  failed (account_suspended)\n'],
  )
  assert.deepEqual(
    [refused.code, refused.err],
    [1, `The campaign ${draft} is a draft. Launch it with POST /v1/campaigns/${draft}/launch.\n`],
  )
  assert.deepEqual([unknown.code, usage.code], [1, 2])
})
