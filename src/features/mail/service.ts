/** E-mails: kept in the database with the change they tell of, sent by a chore where SMTP is configured (behaviour: console 3.9). */
import { isoTime } from '../../lib/clock.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Chore, Platform } from '../../platform/platform.ts'
import * as store from './store.ts'

const againMs = [60_000, 300_000, 900_000, 3600_000]
const triedForMs = 24 * 3600_000
const perRound = 20

export interface NewEmail {
  /** null: of no account. */
  readonly account_id: string | null
  /** Absent: whoever owns the account. */
  readonly recipient?: string
  readonly subject: string
  readonly body: string
  /** What takes the place of `{link}` in the body when it is sent. What is kept and logged has none. */
  readonly link?: string
  /** How long it is tried; by default a day. */
  readonly tried_for_ms?: number
}

/** Writes an e-mail in the transaction of what it tells of; resolves to its id. */
export async function writeEmail(sql: Db, { clock, log, secrets, settings }: Platform, email: NewEmail): Promise<number> {
  const now = clock.now()
  const id = await store.insertEmail(sql, {
    account_id: email.account_id,
    recipient: email.recipient ?? null,
    subject: email.subject,
    body: email.body,
    link: email.link === undefined ? null : secrets.seal(email.link),
    queued: settings.smtp_url !== undefined,
    until: isoTime(now + (email.tried_for_ms ?? triedForMs)),
    at: isoTime(now),
  })
  log.info({ account_id: email.account_id, email_id: id, subject: email.subject }, 'an e-mail was written')
  return id
}

/** `kept`: there was no mail server. `not_sent`: a try has failed, whether another one follows or not. */
export type EmailStatus = 'kept' | 'waiting' | 'sent' | 'not_sent'

const statusOf = ({ sent_at, attempts, queued }: Pick<store.KeptEmail, 'sent_at' | 'attempts' | 'queued'>): EmailStatus =>
  sent_at !== null ? 'sent' : attempts > 0 ? 'not_sent' : queued ? 'waiting' : 'kept'

export type ShownEmail = store.KeptEmail & { readonly status: EmailStatus }

/** What became of e-mails, by their ids. */
export async function emailsOf(sql: Db, ids: readonly number[]): Promise<ReadonlyMap<number, ShownEmail>> {
  return new Map((await store.findEmails(sql, ids)).map((row) => [row.id, { ...row, status: statusOf(row) }]))
}

/** Every e-mail of the installation, newest first; one more than the page holds. */
export async function listEmails(sql: Db, page: Page): Promise<ShownEmail[]> {
  return (await store.listEmails(sql, page)).map((row) => ({ ...row, status: statusOf(row) }))
}

/** Sends what waits, a few at a time; without SMTP nothing waits. */
export const mailChores = (platform: Platform): Chore[] => [{ name: 'e-mails', every_ms: 5_000, run: () => sendEmails(platform) }]

async function sendEmails(platform: Platform): Promise<number> {
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
      const error = await transport.sendMail({ to: email.recipient, subject: email.subject, text: textOf(platform, email) }).then(
        () => null,
        (reason: unknown) => String(reason).slice(0, 500),
      )
      await settle(platform, email, error)
    }
  } finally {
    transport.close()
  }
  return due.length
}

async function settle({ pool, clock, log }: Platform, email: store.DueEmail, error: string | null): Promise<void> {
  const now = clock.now()
  const again = isoTime(now + againMs[Math.min(email.attempts, againMs.length - 1)]!)
  const due_at = error !== null && again < email.until ? again : null
  await store.recordEmailAttempt(pool, { id: email.id, error, sent_at: error === null ? isoTime(now) : null, due_at })
  if (error !== null) log.warn({ email_id: email.id, error }, 'an e-mail could not be sent')
}

const textOf = ({ secrets }: Platform, { body, link }: store.DueEmail): string => (link === null ? body : body.replace('{link}', () => secrets.open(link)))

/** `?from=` of the SMTP address, else the service's own name. */
function senderOf(smtp_url: string, base_url: string): string {
  return new URL(smtp_url).searchParams.get('from') ?? `Posthorn <posthorn@${new URL(base_url).hostname}>`
}
