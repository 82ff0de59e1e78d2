import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startProcess } from '../../test/support/process.ts'
import { smsc } from '../../test/support/simulators/smsc.ts'
import { until } from '../../test/support/waiting.ts'
import { startWorld } from '../../test/support/world.ts'
import { sendTestMessage } from './test-message.ts'

async function testing(t: TestContext) {
  const sim = await smsc(t)
  const world = await startWorld(t, { settings: { webhook_allowed_hosts: [sim.host] } })
  const { id: account_id, api } = await world.account({ mode: 'live', credit_micros: 1_000_000 })
  const credentials = { host: '127.0.0.1', port: sim.port, system_id: 'shop', password: 'secret' }
  const settings = { enquire_link_seconds: 600 }
  const { body: channel } = await api.post('/v1/channels', {
    type: 'sms',
    provider: 'smpp',
    name: 'Alerts',
    identifier: '+4915100000001',
    credentials,
    settings,
  })
  const command = await startProcess(t, world, 'command')
  await world.pool`delete from processes`
  const follow = async (...workers: string[]) => {
    for (const worker of workers) await world.tick(worker)
    const seen: string[] = []
    let done = false
    const sending = sendTestMessage(
      command.app,
      { account_id: account_id as never, mode: 'live' },
      channel,
      '+4915112345678',
      (one) => seen.push(one),
    ).finally(() => (done = true))
    for (let second = 0; second < 70 && !done; second++) {
      await until(
        'the message to be looked at',
        () => done || world.clock.wakesAt().some((at) => at - world.clock.now() <= 500),
      )
      for (const worker of workers) await world.tick(worker)
      await world.clock.advance(1000)
    }
    return { seen, ...(await sending) }
  }
  return { sim, follow }
}

test('without a worker process the result is immediate', async (t) => {
  const { follow } = await testing(t)

  const { seen, status, next } = await follow()

  assert.deepEqual([seen, status], [['queued; no worker process is running'], 'queued'])
  assert.match(next, /as soon as `posthorn serve` runs/)
})

test('the result says that no process has bound the channel', async (t) => {
  const { follow } = await testing(t)

  const { seen, status, next } = await follow('heartbeat')

  assert.deepEqual([seen, status], [['queued; no process has a session with the provider yet'], 'queued'])
  assert.match(next, /The session with the provider is not established yet/)
})

test('a temporary refusal of the SMSC is reported with its message', async (t) => {
  const { sim, follow } = await testing(t)
  sim.answer = 0x08

  const { seen, next } = await follow('heartbeat', 'sessions', 'dispatch')

  assert.ok(
    seen.some((one) => one.includes('unavailable, The SMSC had an internal error.')),
    seen.join('\n'),
  )
  assert.match(next, /The last send attempt failed \(unavailable, The SMSC had an internal error\.\)/)
})

test('a message without a delivery receipt does not point to webhook_url', async (t) => {
  const { follow } = await testing(t)

  const { seen, status, next } = await follow('heartbeat', 'sessions', 'dispatch')

  assert.deepEqual([seen.at(-1), status], ['sent; waiting up to a minute for the delivery', 'sent'])
  assert.match(next, /Ask the provider whether delivery receipts are enabled/)
  assert.doesNotMatch(next, /webhook_url/)
})
