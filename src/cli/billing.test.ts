import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { registerAccounts } from './accounts.ts'
import { registerDatabase } from './database.ts'
import { registerPackages, registerPrices, dollars, registerWallet } from './billing.ts'
import { runCli } from './program.ts'

test('money is written as dollars without rounding', () => {
  assert.deepEqual([0, 7500, 1_000_000, 12_345_678, 20_500_000].map(dollars), [
    '0.00 USD',
    '0.0075 USD',
    '1.00 USD',
    '12.345678 USD',
    '20.50 USD',
  ])
})

test('the operator puts money in, grants packages and sets prices, and doctor finds nothing amiss', async (t) => {
  const { posthorn, json } = await openTerminal(t)
  const account = (await json('accounts', 'create', '--name', 'A'))['id'] as string

  const credited = await json(
    'wallet',
    'credit',
    '--account',
    account,
    '--amount-micros',
    '20000',
    '--note',
    'Invoice 31',
  )
  assert.deepEqual(
    [credited['account_id'], credited['object'], credited['wallet_micros']],
    [account, 'balance', 20_000],
  )
  const granted = await json(
    'packages',
    'grant',
    '--account',
    account,
    '--credits',
    '10',
    '--channel-types',
    'sms,whatsapp',
    '--expires-at',
    '2999-01-31',
    '--name',
    'Winter',
  )
  assert.deepEqual(
    [granted['name'], granted['channel_types'], granted['expires_at'], granted['status']],
    ['Winter', ['sms', 'whatsapp'], '2999-01-31T00:00:00.000Z', 'active'],
  )
  const price = await json('prices', 'set', '--channel-type', 'sms', '--amount-micros', '6000', '--account', account)
  assert.deepEqual(
    [price['object'], price['account_id'], price['amount_micros'], price['currency']],
    ['price', account, 6000, 'USD'],
  )

  const shown = await json('wallet', 'show', '--account', account)
  assert.deepEqual(
    [shown['wallet_micros'], shown['credits_remaining'], shown['low_balance_micros']],
    [20_000, 10, 1_000_000],
  )
  assert.deepEqual(
    ((await json('packages', 'list', '--account', account)) as unknown as { id: string }[]).map((one) => one.id),
    [granted['id']],
  )
  const prices = (await json('prices', 'list', '--account', account)) as unknown as {
    channel_type: string
    amount_micros: number
  }[]
  assert.deepEqual(
    prices.map((one) => [one.channel_type, one.amount_micros]),
    [
      ['whatsapp', 5000],
      ['sms', 6000],
      ['telegram', 0],
    ],
  )
  assert.equal((await posthorn('doctor')).code, 0)
})

test('a failed command exits with 1, a misspelt one with 2, and both explain why on standard error', async (t) => {
  const { posthorn } = await openTerminal(t)

  const refused = await posthorn('wallet', 'credit', '--account', 'acc_nobody', '--amount-micros', '1', '--json')
  assert.deepEqual(refused, {
    code: 1,
    out: '',
    err: 'There is no account acc_nobody. `posthorn accounts list` shows them all.\n',
  })
  assert.equal((await posthorn('prices', 'set', '--channel-type', 'pigeon', '--amount-micros', '1')).code, 1)
  for (const amount of ['0', '-5', '1.5', 'ten', '']) {
    const wrong = await posthorn('wallet', 'credit', '--account', 'acc_nobody', '--amount-micros', amount)
    assert.deepEqual([wrong.code, wrong.out], [2, ''], amount)
    assert.notEqual(wrong.err, '')
  }
  assert.equal(
    (await posthorn('packages', 'grant', '--account', 'acc_nobody', '--credits', '1', '--expires-at', 'soon')).code,
    2,
  )
})

async function openTerminal(t: TestContext) {
  const database = await testDatabase()
  t.after(() => database.drop())
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-cli-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const env = { DATABASE_URL: database.url, POSTHORN_DATA_DIR: folder }
  const groups = [registerAccounts, registerDatabase, registerWallet, registerPackages, registerPrices]

  const posthorn = async (...argv: string[]) => {
    let [out, err] = ['', '']
    const code = await runCli(
      argv,
      { env, out: (text) => void (out += text), err: (text) => void (err += text) },
      groups,
    )
    return { code, out, err }
  }
  const json = async (...argv: string[]) => {
    const { code, out, err } = await posthorn(...argv, '--json')
    assert.equal(code, 0, err)
    return JSON.parse(out) as Record<string, unknown>
  }
  return { posthorn, json }
}
