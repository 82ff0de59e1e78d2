/** E-mails that wait to be sent, with their links. */
import type { World } from './world.ts'

export interface Mail {
  readonly recipient: string
  readonly subject: string
  readonly body: string
  /** null: it has none. */
  readonly token: string | null
}

/** For a world with this setting, and no such server: nothing leaves the queue. */
export const noMailServer = { smtp_url: 'smtp://127.0.0.1:1' } as const

/** Oldest first. */
export async function waitingMails({ pool, platform }: World): Promise<Mail[]> {
  const rows = await pool<{ recipient: string; subject: string; body: string; link: string | null }[]>`
    select e.recipient, e.subject, e.body, q.link
    from emails e
    join email_queue q on q.email_id = e.id
    order by e.id`
  return rows.map(({ link, ...mail }) => ({
    ...mail,
    token: link === null ? null : (platform.secrets.open(link).split('#')[1] ?? null),
  }))
}

export const mailsTo = async (world: World, recipient: string): Promise<Mail[]> =>
  (await waitingMails(world)).filter((mail) => mail.recipient === recipient)
