import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '../../../test/support/bank.ts'
import { isoTime } from '../../lib/clock.ts'
import { transact, type Db } from '../../platform/database/sql.ts'
import { fundsFor } from './charge-repository.ts'

const dayMs = 24 * 3600_000

async function openWallet(t: Parameters<typeof openAccount>[0], low_balance_micros: number) {
  const bank = await openAccount(t)
  const { billing, tenant, pool, clock, ids } = bank
  await billing.setLowBalance(pool, tenant.account_id, low_balance_micros)
  await billing.creditWallet(pool, tenant.account_id, 50_000, null)
  const grant = (credits: number, channel_types: string[]) =>
    billing.grantPackage(pool, { account_id: tenant.account_id, credits, channel_types, expires_at: null, name: '' })
  /** By the optimistic statement; resolves to whether the message was covered. */
  const debit = async (sql: Db, price: number, channel_type = 'sms'): Promise<boolean> => {
    const at = clock.iso()
    const [row] = await sql<{ covered: boolean }[]>`
      with checked as (
        select ${tenant.account_id}::text as account_id, ${channel_type}::text as channel_type, ${price}::bigint as price,
          ${ids('txn')}::text as txn, null::text as verdict
      ), ${fundsFor(sql, { at, low_cutoff: isoTime(clock.now() - dayMs), several: false })}
      select covered from fund`
    return row!.covered
  }
  return { ...bank, grant, debit }
}

test('a wallet below its threshold is charged without locks while the account has credits for another channel type', async (t) => {
  const { pool, grant, debit } = await openWallet(t, 1_000_000)
  await grant(5, ['whatsapp'])

  assert.equal(await debit(pool, 7500), true)
  assert.equal(await debit(pool, 7500), true)
  assert.equal(await debit(pool, 50_000), false)
})

test('a wallet that falls below its threshold is left to the locking path while the account has no credits', async (t) => {
  const { pool, debit } = await openWallet(t, 45_000)

  assert.equal(await debit(pool, 5000), true)
  assert.equal(await debit(pool, 5000), false)
})

test('credits that another transaction uses up while the statement waits for the wallet do not count', async (t) => {
  const { billing, tenant, pool, grant, debit, ids, clock } = await openWallet(t, 45_000)
  await grant(1, ['whatsapp'])

  const waiting = await transact(pool, async (tx) => {
    await billing.chargeInOrder(tx, [
      {
        message_id: ids('msg'),
        ...tenant,
        channel_type: 'whatsapp',
        channel_id: 'ch_1',
        price_micros: 5000,
        created_at: clock.iso(),
      },
    ])
    const debited = debit(pool, 7500)
    const waiters = () =>
      pool`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    while ((await waiters()).length === 0) await pool`select pg_sleep(0.01)`
    return { debited }
  })

  assert.equal(await waiting.debited, false)
})
