/** E-mails: stored in the transaction of their cause, sent by the worker `mail` (behaviour: console 3.9). */
import type { Transporter } from 'nodemailer'
import { isoTime, withDeadline } from '../../lib/clock.ts'
import { isEmailAddress } from '../../lib/email-address.ts'
import { oneLine } from '../../lib/text.ts'
import type { Worker } from '../../platform/jobs/worker.ts'
import type { Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Platform } from '../../platform/platform.ts'
import * as repository from './repository.ts'

const retryDelaysMs = [60_000, 300_000, 900_000, 3600_000]
const retryForMs = 24 * 3600_000
const idleMs = 5_000
/** A hanging mail server occupies one of these slots per e-mail, for `sendTimeoutMs`. */
const concurrency = 5
const sendTimeoutMs = 30_000
/** After it the process must have died. */
const claimMs = 2 * sendTimeoutMs

export interface NewEmail {
  readonly account_id: string | null
  /** Absent: the owner of the account. */
  readonly recipient?: string
  readonly subject: string
  readonly body: string
  /** Replaces the line `{link}` of the body. Stored sealed, never logged. */
  readonly link?: string
  /** Default: a day. */
  readonly retry_for_ms?: number
}

/** Call it in the transaction of its cause. Resolves to its ID. */
export async function enqueueEmail(
  sql: Db,
  { clock, log, secrets, settings }: Platform,
  email: NewEmail,
): Promise<number> {
  const now = clock.now()
  const id = await repository.insertEmail(sql, {
    account_id: email.account_id,
    recipient: email.recipient ?? null,
    subject: oneLine(email.subject),
    body: email.body,
    link: email.link === undefined ? null : secrets.seal(email.link),
    queued: settings.smtp_url !== undefined,
    expires_at: isoTime(now + (email.retry_for_ms ?? retryForMs)),
    at: isoTime(now),
  })
  log.info({ account_id: email.account_id, email_id: id, subject: email.subject }, 'stored an e-mail')
  return id
}

/** `kept`: no mail server is configured. `not_sent`: an attempt failed; another may follow. */
export type EmailStatus = 'kept' | 'waiting' | 'sent' | 'not_sent'

const statusOf = ({
  sent_at,
  attempts,
  queued,
}: Pick<repository.EmailRow, 'sent_at' | 'attempts' | 'queued'>): EmailStatus =>
  sent_at !== null ? 'sent' : attempts > 0 ? 'not_sent' : queued ? 'waiting' : 'kept'

export type EmailWithStatus = repository.EmailRow & { readonly status: EmailStatus }

export async function emailsOf(sql: Db, ids: readonly number[]): Promise<ReadonlyMap<number, EmailWithStatus>> {
  return new Map((await repository.findEmails(sql, ids)).map((row) => [row.id, { ...row, status: statusOf(row) }]))
}

export async function listEmails(sql: Db, page: Page): Promise<EmailWithStatus[]> {
  return (await repository.listEmails(sql, page)).map((row) => ({ ...row, status: statusOf(row) }))
}

export const mailWorker = (platform: Platform): Worker => ({
  name: 'mail',
  poll_every_ms: idleMs,
  tick: (stopping) => sendEmails(platform, stopping),
})

async function sendEmails(platform: Platform, stopping = new AbortController().signal): Promise<number> {
  const { smtp_url, base_url } = platform.settings
  if (smtp_url === undefined) return 0
  const first = await claim(platform)
  if (first === null) return 0
  // loaded for the first e-mail, to keep the start fast
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(smtp_url, { from: senderOf(smtp_url, base_url) })
  let sent = 0
  const work = async (claimed: repository.DueEmail | null) => {
    for (let email = claimed; email !== null; email = stopping.aborted ? null : await claim(platform)) {
      await send(platform, transport, email, stopping)
      sent += 1
    }
  }
  await Promise.all([
    work(first),
    ...Array.from({ length: concurrency - 1 }, async () => await work(await claim(platform))),
  ])
  transport.close()
  return sent
}

async function claim({ pool, clock }: Platform): Promise<repository.DueEmail | null> {
  const now = clock.now()
  return await repository.claimEmail(pool, isoTime(now), isoTime(now + claimMs))
}

async function send(
  platform: Platform,
  transport: Transporter,
  email: repository.DueEmail,
  stopping: AbortSignal,
): Promise<void> {
  const { recipient, subject } = email
  if (recipient === null || !isEmailAddress(recipient))
    return await repository.recordEmailAttempt(platform.pool, {
      id: email.id,
      error:
        recipient === null
          ? 'the account has no owner e-mail address'
          : 'the recipient is not an e-mail address that mail is sent to',
      sent_at: null,
      next_run_at: null,
    })
  const error = await withDeadline(platform.clock, sendTimeoutMs, (late) =>
    transport
      .sendMail({
        // a text would be read as a list of addresses
        to: { name: '', address: recipient },
        subject,
        text: textOf(platform, email),
        signal: AbortSignal.any([late, stopping]),
      })
      .then(
        () => null,
        (reason: unknown) =>
          late.aborted
            ? `The mail server did not accept it within ${sendTimeoutMs / 1000} seconds.`
            : String(reason).slice(0, 500),
      ),
  )
  // another process rescues what this one did not finish
  if (error === null || !stopping.aborted) await recordResult(platform, email, error)
}

async function recordResult(
  { pool, clock, log }: Platform,
  email: repository.DueEmail,
  error: string | null,
): Promise<void> {
  const now = clock.now()
  const retryAt = isoTime(now + retryDelaysMs[Math.min(email.attempts, retryDelaysMs.length - 1)]!)
  const next_run_at = error !== null && retryAt < email.expires_at ? retryAt : null
  await repository.recordEmailAttempt(pool, {
    id: email.id,
    error,
    sent_at: error === null ? isoTime(now) : null,
    next_run_at,
  })
  if (error !== null) log.warn({ email_id: email.id, error }, 'an e-mail could not be sent')
}

const textOf = ({ secrets }: Platform, { body, link }: repository.DueEmail): string =>
  link === null ? body : body.replace(/^\{link\}$/m, () => secrets.open(link))

/** `?from=` in the SMTP address, else the service's own name. */
function senderOf(smtp_url: string, base_url: string): string {
  return new URL(smtp_url).searchParams.get('from') ?? `Posthorn <posthorn@${new URL(base_url).hostname}>`
}
