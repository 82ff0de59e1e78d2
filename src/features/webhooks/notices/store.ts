/** SQL of e-mails to account owners. */
import type { Db } from '../../../platform/database/sql.ts'
import { ownerEmailOf } from '../../accounts/service.ts'

export interface EmailRow {
  readonly id: number
  readonly recipient: string | null
  readonly subject: string
  readonly body: string
  readonly attempts: number
}

/** Addresses it to the owner as of now; `queued`: to be sent. */
export async function insertEmail(sql: Db, email: { account_id: string; subject: string; body: string; queued: boolean; at: string }): Promise<void> {
  await sql`
    with written as (
      insert into emails (account_id, recipient, subject, body, created_at)
      select ${email.account_id}, ${ownerEmailOf(sql, email.account_id)}, ${email.subject}, ${email.body}, ${email.at}
      returning id
    )
    insert into email_queue (email_id, due_at) select id, ${email.at}::timestamptz from written where ${email.queued}`
}

export async function listDueEmails(sql: Db, at: string, limit: number): Promise<EmailRow[]> {
  return await sql<EmailRow[]>`
    select e.id, e.recipient, e.subject, e.body, e.attempts from email_queue q join emails e on e.id = q.email_id where q.due_at <= ${at} order by q.email_id limit ${limit}`
}

/** `due_at`: when it is tried again; null when it is done with. */
export async function recordEmailAttempt(sql: Db, done: { id: number; error: string | null; sent_at: string | null; due_at: string | null }): Promise<void> {
  await sql`update emails set attempts = attempts + 1, error = ${done.error}, sent_at = ${done.sent_at} where id = ${done.id}`
  if (done.due_at === null) await sql`delete from email_queue where email_id = ${done.id}`
  else await sql`update email_queue set due_at = ${done.due_at} where email_id = ${done.id}`
}
