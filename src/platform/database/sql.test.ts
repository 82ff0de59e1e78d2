import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../../test/kit/world.ts'
import { allSent, transact, violatedConstraint, type Db } from './sql.ts'

test('of statements sent together the first that fails is told, and not what failed for its sake', async (t) => {
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

  const failed = transact(pool, (tx) => allSent([tx`insert into taken values (2)`, insertLater(tx), tx`insert into taken values (3)`]))

  await assert.rejects(failed, (error) => violatedConstraint(error) === 'taken_pkey')
  const kept = await pool<{ n: number }[]>`select n from taken`
  assert.deepEqual(
    kept.map(({ n }) => n),
    [1],
  )
})
