/** E-mails to owners over a real SMTP conversation, and secrets after a rotation of the key. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { startPlatform } from '../../../../test/kit/world.ts'
import { openSecrets } from '../../../platform/secrets.ts'
import { insertEmail } from './store.ts'
import { insertEndpoint, listSealed } from '../endpoints/store.ts'
import { webhookChores } from '../worker.ts'

/** A mail server that keeps what it is given; `refuse` answers the first so many with a temporary failure. */
async function mailServer(t: TestContext, refuse = 0) {
  const mails: string[] = []
  let refused = 0
  const server = createServer((socket) => {
    let inData = false
    let text = ''
    socket.write('220 mail.test ESMTP\r\n')
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        text += chunk.toString()
        if (inData) {
          if (!text.endsWith('\r\n.\r\n')) return
          inData = false
          if (refused < refuse) {
            refused += 1
            socket.write('451 try again\r\n')
          } else {
            mails.push(text)
            socket.write('250 kept\r\n')
          }
          text = ''
          return
        }
        const line = text
        text = ''
        if (/^(EHLO|HELO|MAIL|RCPT|RSET)/i.test(line)) socket.write('250 fine\r\n')
        else if (/^DATA/i.test(line)) {
          inData = true
          socket.write('354 go on\r\n')
        } else socket.end('221 bye\r\n')
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { mails, url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}/?from=posthorn@example.com` }
}

test('an e-mail that waits is sent, and one that the mail server refuses is sent later', async (t) => {
  const server = await mailServer(t, 1)
  const { platform, clock, pool } = await startPlatform(t, { settings: { smtp_url: server.url } })
  await pool`insert into accounts (id, name, owner_email, created_at) values ('acc_1', 'A', 'owner@example.com', ${clock.iso()})`
  await insertEmail(pool, { account_id: 'acc_1', subject: 'Disabled', body: 'It was disabled.', queued: true, at: clock.iso() })
  const send = webhookChores(platform).find(({ name }) => name === 'e-mails')!

  await send.run()
  const [first] = await pool`select attempts, error, sent_at from emails`
  await clock.advance(60_000)
  await send.run()
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
  const { platform, clock, pool } = await startPlatform(t)
  await insertEmail(pool, { account_id: 'acc_1', subject: 'S', body: 'B', queued: platform.settings.smtp_url !== undefined, at: clock.iso() })

  assert.equal(
    await webhookChores(platform)
      .find(({ name }) => name === 'e-mails')!
      .run(),
    0,
  )
  assert.equal((await pool`select 1 from emails`).length, 1)
  assert.equal((await pool`select 1 from email_queue`).length, 0)
})

test('after a rotation every secret comes under the new key, the hash key stays, and a foreign key is refused', async (t) => {
  const { platform, clock, pool } = await startPlatform(t)
  const [old, next] = [Buffer.alloc(32, 7).toString('base64'), randomBytes(32).toString('base64')]
  await insertEndpoint(pool, {
    account_id: 'acc_1',
    mode: 'test',
    id: 'we_1',
    url: 'https://example.com',
    description: '',
    events: ['*'],
    status: 'active',
    filters: {},
    metadata: {},
    source: null,
    created_by: { type: 'api_key', id: 'key_1' },
    secret: platform.secrets.seal('whsec_1'),
    previous_secret: null,
    previous_secret_until: null,
    verification_token: platform.secrets.seal('token-12'),
    created_at: clock.iso(),
  })

  const secrets = await openSecrets(pool, { current: next, previous: [old] })
  await webhookChores({ ...platform, secrets })
    .find(({ name }) => name === 'webhook secrets')!
    .run()
  const alone = await openSecrets(pool, { current: next, previous: [] })

  const [row] = await listSealed(pool, '', 10)
  assert.deepEqual([alone.open(row!.secret), alone.open(row!.verification_token!)], ['whsec_1', 'token-12'])
  assert.equal(alone.keyedHash('+4915112345678'), platform.secrets.keyedHash('+4915112345678'))
  await assert.rejects(openSecrets(pool, { current: old, previous: [] }), /does not fit this database/)
})
