import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailServer } from '../../../test/support/mail-server.ts'
import { until, within } from '../../../test/support/waiting.ts'
import { startPlatform } from '../../../test/support/world.ts'
import { mailWorker, enqueueEmail } from './service.ts'

test('a queued e-mail is sent, and one that the mail server refuses is retried', async (t) => {
  const server = await mailServer(t, 1)
  const { platform, clock, pool } = await startPlatform(t, { settings: { smtp_url: server.url } })
  await pool`insert into accounts (id, name, owner_email, created_at) values ('acc_1', 'A', 'owner@example.com', ${clock.iso()})`
  await enqueueEmail(pool, platform, { account_id: 'acc_1', subject: 'Disabled', body: 'It was disabled.' })
  const send = mailWorker(platform)

  await send.tick()
  const [first] = await pool`select attempts, error, sent_at from emails`
  await clock.advance(60_000)
  await send.tick()
  const [second] = await pool`select attempts, error, sent_at from emails`

  assert.deepEqual([first!['attempts'], first!['sent_at']], [1, null])
  assert.match(first!['error'] as string, /451/)
  assert.deepEqual({ ...second }, { attempts: 2, error: null, sent_at: clock.iso() })
  assert.equal(server.mails.length, 1)
  assert.match(server.mails[0]!, /To: owner@example.com/)
  assert.match(server.mails[0]!, /It was disabled\./)
  assert.equal((await pool`select 1 from email_queue`).length, 0)
})

test('without a mail server e-mails are stored and nothing is queued', async (t) => {
  const { platform, pool } = await startPlatform(t)
  await enqueueEmail(pool, platform, { account_id: 'acc_1', subject: 'S', body: 'B' })

  assert.equal(await mailWorker(platform).tick(), 0)
  assert.equal((await pool`select 1 from emails`).length, 1)
  assert.equal((await pool`select 1 from email_queue`).length, 0)
})

test('an e-mail is retried for a day; its link is sent, but neither stored in clear nor logged', async (t) => {
  const server = await mailServer(t, 1000)
  const { platform, clock, pool } = await startPlatform(t, { settings: { smtp_url: server.url } })
  const send = mailWorker(platform)
  await enqueueEmail(pool, platform, {
    account_id: null,
    recipient: 'ada@example.com',
    subject: 'S',
    body: 'Open\n{link}\n',
    link: 'https://example.com/#$&secret',
  })

  for (let hour = 0; hour < 23; hour++) {
    await send.tick()
    await clock.advance(3600_000)
  }
  assert.equal((await pool`select from email_queue`).length, 1)
  assert.ok(
    !JSON.stringify(await pool`select * from emails natural join (select link from email_queue) q`).includes('secret'),
  )
  server.refuse(0)
  await send.tick()
  assert.match(server.mails[0]!, /Open\n?\r?\nhttps:\/\/example\.com\/#\$&secret/)

  server.refuse(1000)
  await enqueueEmail(pool, platform, { account_id: null, recipient: 'ada@example.com', subject: 'S', body: 'B' })
  for (let hour = 0; hour < 25; hour++) {
    await send.tick()
    await clock.advance(3600_000)
  }
  assert.equal((await pool`select from email_queue`).length, 0)
  assert.equal(server.mails.length, 1)
})

test('a hanging mail server blocks only its slots, for half a minute; two processes send each e-mail once', async (t) => {
  const server = await mailServer(t)
  const { platform, clock, pool } = await startPlatform(t, { settings: { smtp_url: server.url } })
  const write = async (count: number) => {
    for (let n = 0; n < count; n++)
      await enqueueEmail(pool, platform, {
        account_id: null,
        recipient: `user${n}@example.com`,
        subject: 'S',
        body: 'B',
      })
  }
  server.hang(4)
  await write(12)

  const passes = [mailWorker(platform).tick()]
  await until(
    'the others to be sent',
    () => server.mails.length,
    (count) => count === 8,
  )
  assert.equal(server.hanging(), 4)
  await write(3)
  passes.push(mailWorker(platform).tick())
  await until(
    'what was written since',
    () => server.mails.length,
    (count) => count === 11,
  )
  await until(
    'the last of them to be settled',
    async () => (await pool`select from emails where sent_at is not null`).length,
    (count) => count === 11,
  )
  await clock.advance(30_000)
  await within('the passes', Promise.all(passes))

  const left = await pool`select error from emails where attempts = 1 and sent_at is null`
  assert.equal(left.length, 4)
  for (const { error } of left) assert.match(error as string, /did not accept it within 30 seconds/)
  await clock.advance(60_000)
  assert.equal(await mailWorker(platform).tick(), 4)
  assert.deepEqual([server.mails.length, (await pool`select from email_queue`).length], [15, 0])
})

test('an e-mail interrupted by a shutdown is sent by the next process', async (t) => {
  const server = await mailServer(t)
  const { platform, clock, pool } = await startPlatform(t, { settings: { smtp_url: server.url } })
  await enqueueEmail(pool, platform, { account_id: null, recipient: 'ada@example.com', subject: 'S', body: 'B' })
  server.hang(1)
  const stopping = new AbortController()
  const pass = mailWorker(platform).tick(stopping.signal)
  await until('the mail server to hang', server.hanging, (count) => count === 1)
  stopping.abort()
  await within('the pass', pass)

  assert.equal(await mailWorker(platform).tick(), 0)
  await clock.advance(60_000)
  assert.equal(await mailWorker(platform).tick(), 1)
  assert.deepEqual(
    [...(await pool`select attempts, error from emails`)].map((row) => ({ ...row })),
    [{ attempts: 1, error: null }],
  )
})
