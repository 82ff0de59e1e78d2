import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WalletRow } from './balance.ts'
import { allocate, type ChargeItem } from './charge.ts'
import type { GrantRow } from './package.ts'
import { entryTime, signedAmounts } from './ledger.ts'

const at = '2026-03-01T12:00:00.000Z'
let made = 0
const newId = () => `txn_${++made}` as const

const wallet = (balance_micros: number): WalletRow => ({
  account_id: 'acc_a',
  balance_micros,
  low_balance_micros: 0,
  low_balance_at: null,
  last_entry_at: null,
})
const grant = (id: string, credits: number, more: Partial<GrantRow> = {}): GrantRow => ({
  account_id: 'acc_a',
  id,
  name: '',
  channel_types: [],
  credits_total: 100,
  credits_remaining: credits,
  expires_at: null,
  exhausted_at: null,
  expired_at: null,
  created_at: at,
  ...more,
})
const item = (price_micros: number, more: Partial<ChargeItem> = {}): ChargeItem => ({
  message_id: `msg_${++made}`,
  account_id: 'acc_a',
  mode: 'live',
  channel_type: 'sms',
  channel_id: 'ch_1',
  price_micros,
  created_at: at,
  ...more,
})
const paidBy = (items: ChargeItem[], wallets: WalletRow[], grants: GrantRow[]) =>
  allocate(items, wallets, grants, at, newId).charges.map((charge) =>
    charge.outcome === 'charged' ? (charge.package_grant_id ?? charge.amount_micros) : 'refused',
  )

test('items are charged in order; an expensive one that is refused does not affect a cheaper one after it', () => {
  assert.deepEqual(paidBy([item(60), item(50), item(40)], [wallet(100)], []), [60, 'refused', 40])
})

test('a free message needs no funds, uses no credits and has no entry', () => {
  const allocation = allocate([item(0), item(7500, { mode: 'test' })], [], [grant('grant_1', 5)], at, newId)

  assert.deepEqual(
    allocation.charges.map((charge) => charge.outcome),
    ['charged', 'charged'],
  )
  assert.deepEqual(allocation.entries, [])
  assert.equal(allocation.grants[0]!.credits_remaining, 5)
})

test('credits come from the grant that expires first; no expiry is last, ties go by age', () => {
  const grants = [
    grant('grant_1', 1),
    grant('grant_2', 1, { expires_at: '2026-05-01T00:00:00.000Z' }),
    grant('grant_4', 1, { expires_at: '2026-04-01T00:00:00.000Z' }),
    grant('grant_3', 1, { expires_at: '2026-04-01T00:00:00.000Z' }),
  ]
  assert.deepEqual(paidBy([item(9), item(9), item(9), item(9), item(9)], [wallet(9)], grants), [
    'grant_3',
    'grant_4',
    'grant_2',
    'grant_1',
    9,
  ])
})

test('a grant pays only for its channel types, and not after its expiry', () => {
  const grants = [
    grant('grant_1', 1, { expires_at: at }),
    grant('grant_2', 1, { channel_types: ['whatsapp'] }),
    grant('grant_3', 1, { expired_at: at }),
  ]

  assert.deepEqual(paidBy([item(9), item(9, { channel_type: 'whatsapp' })], [wallet(9)], grants), [9, 'grant_2'])
})

test('each entry states the balance after it, and the sum of all is the amount charged', () => {
  const allocation = allocate([item(10), item(20), item(30)], [wallet(60)], [grant('grant_1', 1)], at, newId)

  assert.deepEqual(
    allocation.entries.map((entry) => entry.balance_after_micros),
    [60, 40, 10],
  )
  assert.deepEqual(allocation.entries.map(signedAmounts), [
    { amount_micros: 0, credits: -1 },
    { amount_micros: -20, credits: 0 },
    { amount_micros: -30, credits: 0 },
  ])
})

test('an account pays only for its own messages', () => {
  const items = [item(10), item(10, { account_id: 'acc_b' }), item(10, { account_id: 'acc_c' })]

  assert.deepEqual(
    paidBy(items, [wallet(10), { ...wallet(0), account_id: 'acc_b' }], [grant('grant_1', 1, { account_id: 'acc_b' })]),
    [10, 'grant_1', 'refused'],
  )
})

test('an entry is not older than the one before it, unless that was on another day', () => {
  const after = (last: string) => entryTime(at, { last_entry_at: last })

  assert.equal(entryTime(at, undefined), at)
  assert.equal(entryTime(at, { last_entry_at: null }), at)
  assert.equal(after('2026-03-01T11:59:59.999Z'), at)
  assert.equal(after('2026-03-01T12:00:00.007Z'), '2026-03-01T12:00:00.007Z')
  assert.equal(after('2026-03-02T00:00:00.001Z'), at)
})
