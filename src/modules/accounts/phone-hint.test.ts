import assert from 'node:assert/strict'
import { test } from 'node:test'
import postgres from '#postgres'
import type { Detail } from '../../api/errors.ts'
import type { Pool } from '../../platform/database/sql.ts'
import { startWorld } from '../../../test/support/world.ts'
import { phoneHint, withPhoneHint } from './phone-hint.ts'

const failures: Detail[] = [
  { param: 'to', code: 'invalid_format', message: 'No.' },
  { param: 'text.body', code: 'missing_field', message: 'Missing.' },
]

test('a hundred refused numbers of a batch share one look-up of the account', async (t) => {
  const world = await startWorld(t)
  const account = await world.account()
  await world.services.accounts.update(account.id, { default_country: 'DE' })
  let statements = 0
  const sql = postgres(world.database_url, {
    max: 4,
    debug: (_connection, text) => void (text.includes('default_country') && statements++),
  }) as unknown as Pool
  t.after(() => sql.end())
  const tenant = { account_id: account.id as `acc_${string}` }
  const explain = (written: string) => withPhoneHint(sql, tenant, failures, 'to', written)

  const told = await Promise.all(Array.from({ length: 100 }, (_, i) => explain(`0151 123456${10 + (i % 90)}`)))
  assert.equal(statements, 1)
  assert.deepEqual(
    told[0]!.map(({ message }) => message),
    ['No. Did you mean +4915112345610?', 'Missing.'],
  )
  await explain('+49 151 12345678')
  await withPhoneHint(sql, tenant, failures, 'from', '0151 12345678')
  assert.equal(statements, 1, 'an international number needs no country, and what is no phone no look')
  await world.services.accounts.update(account.id, { default_country: 'AT' })
  assert.match((await explain('0664 1234567'))[0]!.message, /\+436641234567\?/)
})

test('a number is read as international first, then as national; other text gives no suggestion', () => {
  assert.equal(phoneHint('0049 151 12345678', 'AT'), ' Did you mean +4915112345678?')
  assert.equal(phoneHint('0151 12345678', 'DE'), ' Did you mean +4915112345678?')
  assert.equal(phoneHint('0151 12345678', null), '')
  assert.equal(phoneHint('nobody', 'DE'), '')
  assert.equal(phoneHint('1'.repeat(255), 'DE'), '')
})
