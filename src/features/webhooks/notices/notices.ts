/** E-mails to account owners: kept in the database with the change they tell of, sent by a chore where SMTP is configured. */
import { isoTime } from '../../../lib/clock.ts'
import type { Db } from '../../../platform/database/sql.ts'
import type { Chore, Platform } from '../../../platform/platform.ts'
import * as store from './store.ts'
import type { EndpointRow } from '../endpoints/store.ts'

const attemptsMax = 8
const againMs = [60_000, 300_000, 900_000, 3600_000]
const perRound = 20

/** Writes the e-mail that tells the owner of a disabled endpoint. */
export async function disabledNotice(sql: Db, platform: Platform, row: EndpointRow, failures: number): Promise<void> {
  const subject = `A webhook endpoint was disabled: ${new URL(row.url).host}`
  const body = [
    `The webhook endpoint ${row.id} (${row.mode} mode) failed ${failures} times in a row and was disabled.`,
    '',
    `URL: ${row.url}`,
    `Events: ${row.events.join(', ')}`,
    '',
    'Nothing more is sent to it. Events that happen while it is disabled are not sent later; read them with GET /v1/events.',
    `To enable it again: PATCH ${platform.settings.base_url}/v1/webhook_endpoints/${row.id} with {"status": "active"}.`,
    `Its latest deliveries and their errors: GET ${platform.settings.base_url}/v1/webhook_endpoints/${row.id}/deliveries.`,
    '',
  ].join('\n')
  await store.insertEmail(sql, {
    account_id: row.account_id,
    subject,
    body,
    queued: platform.settings.smtp_url !== undefined,
    at: isoTime(platform.clock.now()),
  })
  platform.log.info({ account_id: row.account_id, subject }, 'an e-mail to the account owner was written')
}

/** Sends what waits, a few at a time; without SMTP nothing waits. */
export const noticeChores = (platform: Platform): Chore[] => [{ name: 'e-mails', every_ms: 5_000, run: () => sendNotices(platform) }]

async function sendNotices(platform: Platform): Promise<number> {
  const { smtp_url } = platform.settings
  if (smtp_url === undefined) return 0
  const due = await store.listDueEmails(platform.pool, isoTime(platform.clock.now()), perRound)
  if (due.length === 0) return 0
  // loaded for the first e-mail: no start needs it
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(smtp_url, { from: senderOf(smtp_url, platform.settings.base_url) })
  try {
    for (const email of due) {
      if (email.recipient === null) {
        await store.recordEmailAttempt(platform.pool, { id: email.id, error: 'the account has no owner e-mail address', sent_at: null, due_at: null })
        continue
      }
      const error = await transport.sendMail({ to: email.recipient, subject: email.subject, text: email.body }).then(
        () => null,
        (reason: unknown) => String(reason).slice(0, 500),
      )
      const now = platform.clock.now()
      const again = error !== null && email.attempts + 1 < attemptsMax ? isoTime(now + againMs[Math.min(email.attempts, againMs.length - 1)]!) : null
      await store.recordEmailAttempt(platform.pool, { id: email.id, error, sent_at: error === null ? isoTime(now) : null, due_at: again })
      if (error !== null) platform.log.warn({ email_id: email.id, error }, 'an e-mail could not be sent')
    }
  } finally {
    transport.close()
  }
  return due.length
}

/** `?from=` of the SMTP address, else the service's own name. */
function senderOf(smtp_url: string, base_url: string): string {
  return new URL(smtp_url).searchParams.get('from') ?? `Posthorn <posthorn@${new URL(base_url).hostname}>`
}
