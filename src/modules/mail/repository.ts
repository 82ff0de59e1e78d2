/** SQL of e-mails. */
import type { Db } from '../../platform/database/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { ownerEmailOf } from '../accounts/service.ts'

export interface DueEmail {
  readonly id: number
  readonly recipient: string | null
  readonly subject: string
  readonly body: string
  readonly attempts: number
  /** Sealed. */
  readonly link: string | null
  /** No attempt starts after this time. */
  readonly expires_at: string
}

/** Without a recipient it is addressed to the current owner. */
export async function insertEmail(
  sql: Db,
  email: {
    account_id: string | null
    recipient: string | null
    subject: string
    body: string
    link: string | null
    queued: boolean
    expires_at: string
    at: string
  },
): Promise<number> {
  const { account_id } = email
  const recipient =
    email.recipient !== null || account_id === null ? sql`${email.recipient}::text` : ownerEmailOf(sql, account_id)
  const [row] = await sql<{ id: number }[]>`
    with written as (
      insert into emails (account_id, recipient, subject, body, created_at)
      select ${account_id}, ${recipient}, ${email.subject}, ${email.body}, ${email.at}
      returning id
    ), queued as (
      insert into email_queue (email_id, next_run_at, link, expires_at)
      select id, ${email.at}::timestamptz, ${email.link}, ${email.expires_at}::timestamptz
      from written
      where ${email.queued}
    )
    select id from written`
  return row!.id
}

/** Those without an attempt first. */
export async function claimEmail(sql: Db, at: string, until: string): Promise<DueEmail | null> {
  const [email] = await sql<DueEmail[]>`
    update email_queue q set next_run_at = ${until} from emails e
    where e.id = q.email_id and q.email_id = (
      select q.email_id from email_queue q join emails e on e.id = q.email_id
      where q.next_run_at <= ${at} order by e.attempts, q.email_id limit 1 for update of q skip locked)
    returning e.id, e.recipient, e.subject, e.body, e.attempts, q.link, q.expires_at`
  return email ?? null
}

/** `next_run_at` null: no further attempt. */
export async function recordEmailAttempt(
  sql: Db,
  done: { id: number; error: string | null; sent_at: string | null; next_run_at: string | null },
): Promise<void> {
  await sql`
    update emails
    set attempts = attempts + 1, error = ${done.error}, sent_at = ${done.sent_at}
    where id = ${done.id}`
  if (done.next_run_at === null) await sql`delete from email_queue where email_id = ${done.id}`
  else
    await sql`
    update email_queue set next_run_at = ${done.next_run_at} where email_id = ${done.id}`
}

export interface EmailRow {
  readonly id: number
  readonly account_id: string | null
  readonly recipient: string | null
  readonly subject: string
  readonly attempts: number
  readonly error: string | null
  readonly sent_at: string | null
  readonly created_at: string
  readonly queued: boolean
}

const shown = 'id account_id recipient subject attempts error sent_at created_at'.split(' ')

export async function findEmails(sql: Db, ids: readonly number[]): Promise<EmailRow[]> {
  return await sql<EmailRow[]>`
    select ${sql(shown)}, exists (select from email_queue q where q.email_id = emails.id) as queued
    from emails
    where id = any (${ids as number[]}::bigint[])`
}

export async function listEmails(sql: Db, page: Page): Promise<EmailRow[]> {
  return await sql<EmailRow[]>`
    select ${sql(shown)}, exists (select from email_queue q where q.email_id = emails.id) as queued
    from emails
    where id < ${page.starting_after ?? '9223372036854775807'}::bigint
    order by id desc
    limit ${page.limit + 1}`
}
