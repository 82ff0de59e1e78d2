/** Closing what a test set up. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { closing } from './closing.ts'

test('everything is closed, the last first, also when closing something fails; the failure is reported', async () => {
  let end: (() => Promise<void>) | undefined
  const context = { after: (done: () => Promise<void>) => (end = done) } as unknown as TestContext
  const closed: string[] = []
  const refused = new Error('cannot be closed')
  closing(context, () => closed.push('database'))
  closing(context, () => Promise.reject(refused))
  closing(context, () => {
    throw refused
  })
  closing(context, () => closed.push('server'))

  await assert.rejects(end!(), (error: AggregateError) => error.errors.every((each) => each === refused))

  assert.deepEqual(closed, ['server', 'database'])
})
