import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../../test/support/world.ts'
import {
  allInOrder,
  didNotCommit,
  transact,
  transactionId,
  violatedConstraint,
  type Db,
  type Transaction,
} from './sql.ts'

test('of pipelined statements the first error is reported', async (t) => {
  const { pool } = await startPlatform(t)
  await pool`create table taken (n int constraint taken_pkey primary key)`
  await pool`insert into taken values (1)`
  const insertLater = async (sql: Db) => {
    try {
      await sql`insert into taken values (1)`
    } catch (error) {
      await Promise.resolve()
      throw error
    }
  }

  const failed = transact(pool, (tx) =>
    allInOrder([tx`insert into taken values (2)`, insertLater(tx), tx`insert into taken values (3)`]),
  )

  await assert.rejects(failed, (error) => violatedConstraint(error) === 'taken_pkey')
  const kept = await pool<{ n: number }[]>`select n from taken`
  assert.deepEqual(
    kept.map(({ n }) => n),
    [1],
  )
})

test('only a transaction that was rolled back counts as not committed', async (t) => {
  const { pool } = await startPlatform(t)
  const begin = async (end: (tx: Transaction, id: string) => Promise<void>): Promise<string> => {
    let id = ''
    await transact(pool, async (tx) => {
      id = await transactionId(tx)
      await end(tx, id)
    }).catch(() => undefined)
    return id
  }
  const seen: boolean[] = []

  const committed = await begin(async (_tx, id) => void seen.push(await didNotCommit(pool, id)))
  const rolledBack = await begin(() => Promise.reject(new Error('changed my mind')))
  seen.push(await didNotCommit(pool, committed), await didNotCommit(pool, rolledBack))
  await pool.end()
  seen.push(await didNotCommit(pool, rolledBack))

  assert.deepEqual(seen, [false, false, true, false])
})
