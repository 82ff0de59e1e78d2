/** Receipts prove which parts of an unanswered attempt were accepted: only the others are sent again (behaviour: messages 7.9). */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { StatusQueryResult, Outcome, OutboundMessage } from '../../src/providers/provider.ts'
import { dyingSendAttempt, seeDeath } from '../support/dying-process.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { holdOpen } from '../support/open-transactions.ts'
import { scriptedWorld } from '../support/scripted-world.ts'
import { until } from '../support/waiting.ts'

const total = 3
/** `lost`: no answer; `hang`: no answer until the timeout. */
type Ending = 'taken' | 'lost' | 'hang' | 'refused' | 'away'

async function liveWorld(t: TestContext) {
  const scripted = await scriptedWorld(t)
  const { world, api, provider, callBack } = scripted
  const parts: number[] = []
  const steps: (Ending | Promise<Ending>)[] = []
  provider.send = async ({ already_accepted }: OutboundMessage, { clock, signal, took }): Promise<Outcome> => {
    const ids = [...already_accepted]
    let time = signal
    const soFar = () => ({ message: 'No answer came.', provider_ids: [...ids] })
    for (let part = ids.length + 1; part <= total; part++) {
      parts.push(part)
      const step = await (steps.shift() ?? 'taken')
      if (step === 'hang') await clock.sleep(3600_000, time)
      if (step === 'hang' || step === 'lost') return { kind: 'unknown', ...soFar() }
      if (step === 'away') return { kind: 'unavailable', provider_code: null, ...soFar() }
      if (step === 'refused') return { kind: 'refused', code: 'policy_violation', provider_code: null, ...soFar() }
      ids.push(idOf(part, parts.filter((one) => one === part).length))
      if (ids.length === total) break
      const next = await took!([...ids])
      if (next === null) return { kind: 'unavailable', provider_code: null, ...soFar() }
      time = next
    }
    return { kind: 'accepted', provider_ids: ids as [string, ...string[]] }
  }
  return {
    ...scripted,
    parts,
    steps,
    report: async (...reports: object[]) => {
      await callBack(...reports)
      await world.tick('callbacks')
    },
    attempts: async (id: string) =>
      (await api.get(`/v1/messages/${id}/attempts`)).body.data
        .map(({ outcome }: { outcome: string }) => outcome)
        .toReversed(),
    /** Begins a send attempt and returns during it. */
    begin: async () => {
      const before = parts.length
      const work = world.tick('dispatch')
      await until('a part to go out', () => parts.length > before && steps.length === 0)
      return { ended: async () => await world.idleWatch.whileTimePasses(() => work, 500) }
    },
    /** Begins the status query of an unanswered attempt; `end` answers it with no information. */
    beginAsking: async () => {
      await world.clock.advance(30_000)
      const reported = Promise.withResolvers<StatusQueryResult>()
      provider.queryStatus = () => reported.promise
      const work = world.tick('dispatch')
      await until('the question', () => provider.statusQueries.length === 1)
      return {
        end: async () => {
          reported.resolve({ kind: 'no_information' })
          await world.idleWatch.whileTimePasses(() => work, 500)
        },
      }
    },
    kept: async () =>
      (await world.pool`select accepted_ids, outcome_unknown from dispatch_jobs order by message_id`).map(
        ({ accepted_ids, outcome_unknown }) => [accepted_ids, outcome_unknown],
      ),
    reportsLeft: async () => (await world.pool`select from callback_items`).length,
  }
}

/** The provider's id of a part's nth copy. */
const idOf = (part: number, time = 1) => (time === 1 ? `p${part}` : `p${part}-${time}`)
const receipt = (message_id: string, number: number, transition: string, more: object = {}) => ({
  kind: 'delivery_receipt',
  provider_id: idOf(number),
  message_id,
  part: { number, total },
  transition,
  ...more,
})
const failure = { error: { code: 'provider_error', message: 'Switched off.', provider_code: '7' } }

for (const [at, lost] of [
  ['first', 1],
  ['second', 2],
] as const)
  test(`if the ${at} part had no answer, the remaining parts are sent at once when a receipt proves that part accepted`, async (t) => {
    const { world, parts, steps, send, read, report, wait, events, spent, kept } = await liveWorld(t)
    steps.push(...Array.from({ length: lost - 1 }, () => 'taken' as const), 'lost')
    const id = await send()
    await world.settle()
    const before = await read(id)

    await report(receipt(id, lost, 'deliver'))
    const proved = await kept()
    await world.settle()
    const after = await read(id)
    await wait(24 * 3600_000)

    assert.deepEqual(proved, [[['p1', 'p2'].slice(0, lost), false]])
    assert.deepEqual([before.status, after.status, parts], ['sending', 'sent', [1, 2, 3]])
    await report(
      ...[1, 2, 3].map((number) => ({ kind: 'delivery_receipt', provider_id: idOf(number), transition: 'deliver' })),
    )
    assert.deepEqual(
      [(await read(id)).status, await events(), await spent()],
      ['delivered', ['message.sent', 'message.delivered'], 7500],
    )
    await world.invariants()
  })

test('a message whose last part had no answer is sent when a receipt proves that part accepted', async (t) => {
  const { world, parts, steps, send, read, report, wait, events, attempts, reportsLeft } = await liveWorld(t)
  steps.push('taken', 'taken', 'lost')
  const id = await send({ expires_in_seconds: 60 })
  await world.settle()

  await report(receipt(id, 3, 'accept'))
  const sent = await read(id)
  await wait(3600_000)
  await report(receipt(id, 1, 'open'), receipt(id, 2, 'deliver'), receipt(id, 3, 'open'))

  assert.deepEqual(
    [sent.status, (await read(id)).status, parts, await attempts(id)],
    ['sent', 'delivered', [1, 2, 3], ['unknown']],
  )
  assert.deepEqual([await events(), await reportsLeft()], [['message.sent', 'message.delivered'], 0])
  await world.invariants()
})

test('receipts of parts are applied in any order and number, even before our own record', async (t) => {
  const { world, parts, steps, send, read, report, begin, events, reportsLeft } = await liveWorld(t)
  const answer = Promise.withResolvers<Ending>()
  steps.push('taken', answer.promise)
  const id = await send()
  const begun = await begin()

  await report(
    receipt(id, 2, 'deliver'),
    receipt(id, 1, 'deliver'),
    receipt(id, 2, 'accept'),
    receipt(id, 1, 'accept'),
    receipt(id, 2, 'deliver'),
  )
  const during = await read(id)
  answer.resolve('taken')
  await begun.ended()
  await world.settle()
  const sent = await read(id)
  await report(receipt(id, 3, 'deliver'), receipt(id, 3, 'accept'), receipt(id, 1, 'deliver'))

  assert.deepEqual(
    [during.status, sent.status, (await read(id)).status, parts],
    ['sending', 'sent', 'delivered', [1, 2, 3]],
  )
  assert.deepEqual([await events(), await reportsLeft()], [['message.sent', 'message.delivered'], 0])
  await world.invariants()
})

test('one callback may prove all parts of a message before any answer arrives', async (t) => {
  const { world, parts, steps, send, read, report, begin, wait } = await liveWorld(t)
  const answer = Promise.withResolvers<Ending>()
  steps.push('taken', 'taken', answer.promise)
  const id = await send()
  const begun = await begin()

  await report(receipt(id, 3, 'open'), receipt(id, 2, 'open'), receipt(id, 1, 'deliver'))
  const during = await read(id)
  answer.resolve('taken')
  await begun.ended()
  await wait(3600_000)

  assert.deepEqual([during.status, (await read(id)).status, parts], ['delivered', 'delivered', [1, 2, 3]])
  await world.invariants()
})

for (const [name, ending] of [
  ['ends without an answer', 'lost'],
  ['is given up', 'hang'],
  ['is said to be refused', 'refused'],
  ['is said not to have arrived', 'away'],
] as const)
  test(`a part proved accepted during another attempt is not sent again if that ${name}`, async (t) => {
    const { world, parts, steps, send, read, report, begin, wait, events, spent } = await liveWorld(t)
    steps.push('taken', 'lost')
    const id = await send()
    await world.settle()
    await world.clock.advance(30_000)
    const answer = Promise.withResolvers<Ending>()
    steps.push(answer.promise)
    const begun = await begin()

    await report(receipt(id, 2, 'accept'))
    answer.resolve(ending)
    await begun.ended()
    for (const ms of [30_000, 0, 24 * 3600_000]) await wait(ms)

    assert.deepEqual(
      [(await read(id)).status, parts, await events(), await spent()],
      ['sent', [1, 2, 2, 3], ['message.sent'], 7500],
    )
    await world.invariants()
  })

test('a part proved accepted during a status query is not sent again', async (t) => {
  const { world, parts, steps, send, read, report, wait, beginAsking } = await liveWorld(t)
  steps.push('taken', 'lost')
  const id = await send()
  await world.settle()
  const question = await beginAsking()

  await report(receipt(id, 2, 'accept'))
  await question.end()
  await wait(0)

  assert.deepEqual([(await read(id)).status, parts], ['sent', [1, 2, 3]])
  await world.invariants()
})

test('a message that a receipt reports during a status query is not sent again', async (t) => {
  const { world, parts, steps, send, read, report, wait, beginAsking } = await liveWorld(t)
  steps.push('lost')
  const id = await send()
  await world.settle()
  const question = await beginAsking()

  await report({ kind: 'delivery_receipt', provider_id: 'whole', message_id: id, transition: 'deliver' })
  await question.end()
  await wait(120_000)

  assert.deepEqual([(await read(id)).status, parts], ['delivered', [1]])
  await world.invariants()
})

test('the accepted copy of a part counts, and the message fails if both copies fail', async (t) => {
  const { world, parts, steps, send, read, report, wait, events, spent } = await liveWorld(t)
  steps.push('taken', 'lost')
  const id = await send()
  await world.settle()
  await wait(30_000)
  const sent = await read(id)
  for (const number of [1, 3]) await report(receipt(id, number, 'deliver'))

  await report(receipt(id, 2, 'accept'), receipt(id, 2, 'fail', failure))
  const once = await read(id)
  await report({ kind: 'delivery_receipt', provider_id: idOf(2, 2), transition: 'fail', ...failure })

  assert.deepEqual([sent.status, once.status, (await read(id)).status, parts], ['sent', 'sent', 'failed', [1, 2, 2, 3]])
  assert.deepEqual([await events(), await spent()], [['message.sent', 'message.failed'], 0])
  await world.invariants()
})

test('a part is delivered when any of its copies is', async (t) => {
  const { world, steps, send, read, report, wait } = await liveWorld(t)
  steps.push('taken', 'lost')
  const id = await send()
  await world.settle()
  await wait(30_000)

  await report(
    { kind: 'delivery_receipt', provider_id: idOf(2, 2), transition: 'fail', ...failure },
    ...[1, 2, 3].map((number) => receipt(id, number, 'deliver')),
  )
  await report(...[1, 2, 3].map((number) => receipt(id, number, 'deliver')))

  assert.equal((await read(id)).status, 'delivered')
  await world.invariants()
})

for (const [name, ids, transition, expected] of [
  ['is delivered when its last two parts are reported to be', ['p2-2', 'p3'], 'deliver', 'delivered'],
  ['fails when both copies of a part are reported to have failed', ['p2', 'p2-2'], 'fail', 'failed'],
] as const)
  test(`a message ${name} at the same moment, to two processes`, async (t) => {
    const { world, steps, send, read, report, callBack, wait } = await liveWorld(t)
    steps.push('taken', 'lost')
    const id = await send()
    await world.settle()
    await wait(30_000)
    await report(receipt(id, 1, 'deliver'), receipt(id, 2, 'accept'))
    for (const provider_id of ids)
      await callBack({ kind: 'delivery_receipt', provider_id, transition, ...(transition === 'fail' ? failure : {}) })

    // neither transaction sees the other, so only waiting lets both remove their reports
    const passes = await holdOpen(world.pool, async (gate) => {
      await gate`lock table callback_items in share mode`
      const first = await holdOpen(world.pool, async (other) => {
        await other`select from callback_items where provider_id = ${ids[1]} for update`
        const pass = world.tick('callbacks')
        await until('the first process to store its report', async () => (await lockWaits(world.pool)) === 1)
        return { pass }
      })
      const second = world.tick('callbacks')
      await until('the second process to wait as well', async () => (await lockWaits(world.pool)) === 2)
      return { both: [first.pass, second] }
    })
    await Promise.all(passes.both)

    assert.equal((await read(id)).status, expected)
    await world.invariants()
  })

test('a failed part fails its message, and the remaining parts are not sent', async (t) => {
  const { world, parts, steps, send, read, report, wait, spent } = await liveWorld(t)
  steps.push('taken', 'lost')
  const id = await send()
  await world.settle()

  await report(receipt(id, 2, 'fail', failure))
  const { status, error, billing } = await read(id)
  await wait(120_000)

  assert.deepEqual(
    [status, error.message, billing.refunded, await spent(), parts],
    ['failed', 'Switched off.', true, 0, [1, 2]],
  )
  await world.invariants()
})

test('an attempt of a killed process continues after the parts that receipts prove', async (t) => {
  const { world, parts, steps, send, read, report } = await liveWorld(t)
  steps.push('taken', 'hang')
  const { id, kill } = await dyingSendAttempt(t, world, send)
  await until('the second part', () => parts.length === 2)
  await until(
    'its first part to be kept',
    async () => (await world.pool`select from dispatch_jobs where accepted_ids = '{p1}'`).length === 1,
  )
  await kill()

  await report(receipt(id, 2, 'accept'))
  await seeDeath(world)
  await world.settle()

  assert.deepEqual([(await read(id)).status, parts], ['sent', [1, 2, 3]])
  await world.invariants()
})

test('a message in memory continues after the parts that receipts prove', async (t) => {
  const { world, parts, steps, send, read, report, wait } = await liveWorld(t)
  steps.push('taken', 'lost')
  const id = await send()
  await world.settle()
  // claimed, not sent
  await world.pool`update dispatch_jobs set process_id = ${world.platform.process_id}, next_run_at = ${world.clock.iso(60_000)} where message_id = ${id}`

  await report(receipt(id, 2, 'accept'))
  await wait(60_000)

  assert.deepEqual([(await read(id)).status, parts], ['sent', [1, 2, 3]])
  await world.invariants()
})

test("receipts of impossible parts, or of another channel's message, prove nothing", async (t) => {
  const { world, connect, parts, steps, send, read, report, wait, kept } = await liveWorld(t)
  steps.push('taken', 'lost')
  const id = await send()
  await world.settle()
  steps.push('lost')
  const other = await send({ channel: await connect() })
  await world.settle()

  await report(receipt(id, 3, 'deliver'), receipt(other, 1, 'deliver'), receipt('msg_none', 2, 'deliver'))
  for (const part of [
    null,
    'two',
    {},
    { number: 0, total },
    { number: 2.5, total },
    { number: 4, total },
    { number: '2', total: {} },
    { number: 2, total: 1e9 },
  ])
    await report(receipt(id, 2, 'deliver', { part, provider_id: `odd ${JSON.stringify(part)}` }))
  const before = await kept()
  await wait(30_000)

  assert.deepEqual(before, [
    [['p1'], true],
    [null, true],
  ])
  assert.deepEqual([(await read(id)).status, (await read(other)).status, parts.length], ['sent', 'sent', 8])
  await world.invariants()
})
