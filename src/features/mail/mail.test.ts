/** E-mails over a real SMTP conversation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailServer } from '../../../test/kit/mail-server.ts'
import { startPlatform } from '../../../test/kit/world.ts'
import { mailChores, writeEmail } from './service.ts'

test('an e-mail that waits is sent, and one that the mail server refuses is sent later', async (t) => {
  const server = await mailServer(t, 1)
  const { platform, clock, pool } = await startPlatform(t, { settings: { smtp_url: server.url } })
  await pool`insert into accounts (id, name, owner_email, created_at) values ('acc_1', 'A', 'owner@example.com', ${clock.iso()})`
  await writeEmail(pool, platform, { account_id: 'acc_1', subject: 'Disabled', body: 'It was disabled.' })
  const [send] = mailChores(platform)

  await send!.run()
  const [first] = await pool`select attempts, error, sent_at from emails`
  await clock.advance(60_000)
  await send!.run()
  const [second] = await pool`select attempts, error, sent_at from emails`

  assert.deepEqual([first!['attempts'], first!['sent_at']], [1, null])
  assert.match(first!['error'] as string, /451/)
  assert.deepEqual({ ...second }, { attempts: 2, error: null, sent_at: clock.iso() })
  assert.equal(server.mails.length, 1)
  assert.match(server.mails[0]!, /To: owner@example.com/)
  assert.match(server.mails[0]!, /It was disabled\./)
  assert.equal((await pool`select 1 from email_queue`).length, 0)
})

test('without a mail server e-mails are kept and nothing waits', async (t) => {
  const { platform, pool } = await startPlatform(t)
  await writeEmail(pool, platform, { account_id: 'acc_1', subject: 'S', body: 'B' })

  assert.equal(await mailChores(platform)[0]!.run(), 0)
  assert.equal((await pool`select 1 from emails`).length, 1)
  assert.equal((await pool`select 1 from email_queue`).length, 0)
})

test('an e-mail is tried for a day; its link is sent, and neither kept nor logged', async (t) => {
  const server = await mailServer(t, 1000)
  const { platform, clock, pool } = await startPlatform(t, { settings: { smtp_url: server.url } })
  const [send] = mailChores(platform)
  await writeEmail(pool, platform, {
    account_id: null,
    recipient: 'ada@example.com',
    subject: 'S',
    body: 'Open\n{link}\n',
    link: 'https://example.com/#$&secret',
  })

  for (let hour = 0; hour < 23; hour++) {
    await send!.run()
    await clock.advance(3600_000)
  }
  assert.equal((await pool`select from email_queue`).length, 1)
  assert.ok(!JSON.stringify(await pool`select * from emails natural join (select link from email_queue) q`).includes('secret'))
  server.refuse(0)
  await send!.run()
  assert.match(server.mails[0]!, /Open\n?\r?\nhttps:\/\/example\.com\/#\$&secret/)

  server.refuse(1000)
  await writeEmail(pool, platform, { account_id: null, recipient: 'ada@example.com', subject: 'S', body: 'B' })
  for (let hour = 0; hour < 25; hour++) {
    await send!.run()
    await clock.advance(3600_000)
  }
  assert.equal((await pool`select from email_queue`).length, 0)
  assert.equal(server.mails.length, 1)
})
