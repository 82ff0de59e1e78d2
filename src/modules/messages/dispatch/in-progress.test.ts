import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import type { MessageRow } from '../message.ts'
import { inProgress } from './in-progress.ts'
import type { Job } from './job.ts'

const job = (id: string, channel_id = 'ch_1'): Job => ({
  row: { id, account_id: 'acc_1', channel_id, priority: 'normal', status: 'queued' } as MessageRow,
  attempts: 0,
  claimed: false,
  outcome_unknown: false,
  due_ms: 0,
  lease_until_ms: 0,
})

test('a job is counted while it waits and runs', () => {
  const jobs = inProgress()
  const [one, two, other] = [job('one'), job('two'), job('other', 'ch_2')]
  for (const each of [one, two, other]) jobs.add(each)

  const taken = jobs.waiting.take(2, (queue, _, wanted) => (queue === 'acc_1:ch_1' ? wanted : 0))
  for (const each of taken) jobs.begin(each)
  const during = [jobs.size, jobs.running, jobs.runningOf('acc_1:ch_1'), jobs.runningOf('acc_1:ch_2')]
  jobs.end(one)

  assert.deepEqual(during, [3, 2, 2, 0])
  assert.deepEqual(
    [jobs.size, jobs.running, jobs.runningOf('acc_1:ch_1'), jobs.has('one'), jobs.has('two')],
    [2, 1, 1, false, true],
  )
})

test('cancelling removes messages from memory, or reports that they are being sent', () => {
  const jobs = inProgress()
  const [waiting, sending] = [job('waiting'), job('sending')]
  jobs.add(waiting)
  jobs.begin(sending)
  jobs.unpersisted.begin(sending, 0)

  const onTheirWay = jobs.withdraw(['waiting', 'sending', 'elsewhere'], 0)

  assert.deepEqual([...onTheirWay], ['sending'])
  assert.deepEqual([jobs.has('waiting'), jobs.has('sending'), jobs.waiting.size], [false, true, 0])
  assert.deepEqual(
    ['waiting', 'elsewhere', 'another'].map((id) => jobs.unpersisted.refuses(id)),
    [true, true, false],
  )
})

test('refused messages may be queued again after a while, even if the clock was set back', async () => {
  const { unpersisted } = inProgress()
  const clock = fakeClock()
  unpersisted.refuse(['one'], clock.elapsed())

  clock.jump(-3600_000)
  await clock.advance(60_000)
  unpersisted.refuse(['two'], clock.elapsed())

  assert.deepEqual([unpersisted.refuses('one'), unpersisted.refuses('two')], [false, true])
})

test('a job ends once: ending it again neither miscounts its queue nor affects a new claim', () => {
  const jobs = inProgress()
  const [first, other, again] = [job('one'), job('other'), job('one')]
  for (const each of [first, other]) jobs.begin(each)
  jobs.end(first)
  jobs.begin(again)
  jobs.unpersisted.begin(again, 0)

  jobs.end(first)

  assert.deepEqual([jobs.size, jobs.running, jobs.runningOf('acc_1:ch_1')], [2, 2, 2])
  assert.deepEqual([jobs.has('one'), jobs.unpersisted.has('one')], [true, true])
})

test('a job is what was last written of it, however it was got at, and ends once', () => {
  const jobs = inProgress()
  const first = job('one')
  jobs.begin(first)
  const row = { ...first.row, status: 'sending' } as MessageRow

  jobs.update(first, { row })
  jobs.update(first, { accepted_ids: ['p1'] })
  const now = jobs.latest(first)
  const counted = [...jobs.runningByType().values()]
  jobs.end(first)
  jobs.end(now)

  assert.deepEqual([first.row.status, now.row.status, now.accepted_ids], ['queued', 'sending', ['p1']])
  assert.deepEqual([counted, jobs.size, jobs.runningOf('acc_1:ch_1')], [[1], 0, 0])
})

test('who waits for places is told of once, when some were given back', () => {
  const jobs = inProgress()
  jobs.setPlacesWanted(true)

  assert.deepEqual([jobs.takePlacesWanted(), jobs.takePlacesWanted()], [true, false])
})
