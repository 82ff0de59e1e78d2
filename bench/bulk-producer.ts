/** The producer process of the measurement `bulk`, whose messages are bulk traffic as of a campaign. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { nodeFlags } from '../scripts/node-flags.mjs'
import type { Tenant } from '../src/api/caller.ts'
import { billingService } from '../src/modules/billing/service.ts'
import { channelService } from '../src/modules/channels/service.ts'
import { checkMessage } from '../src/modules/messages/accept/requests.ts'
import { groupCommit } from '../src/modules/messages/accept/group-commit.ts'
import { queueLimit } from '../src/modules/messages/accept/queue-limit.ts'
import type { SubmissionItem } from '../src/modules/messages/accept/submission.ts'
import { producersOf, type ProducerFragment } from '../src/modules/messages/accept/producers.ts'
import { projectionsOf } from '../src/modules/messages/projections.ts'
import { openPlatform } from './platform.ts'
import type { Service } from './service.ts'

const origin = { type: 'automation', id: 'aut_bench' } as const
const kind = 'bench'
const submissionItems = 500
const submissionsAtOnce = 3
const connections = 12

interface Task {
  readonly from: number
  readonly count: number
  readonly within_ms: number
}

export interface Submitted {
  readonly accepted: number
  readonly seconds: number
}

export interface Producer extends AsyncDisposable {
  /** Submits as many as possible within the time. Rejects if one was refused. */
  submit(count: number, within_ms: number): Promise<Submitted>
}

export async function startProducer(service: Service, rows: number): Promise<Producer> {
  const { pool, account_id, channel, env, database_url } = service
  await pool`create table bench_recipients (submission_key text primary key, account_id text not null, message_id text, code text)`
  await pool`
    insert into bench_recipients (submission_key, account_id)
    select ${origin.id} || '/' || n, ${account_id}
    from generate_series(0, ${rows - 1}::int) n`
  await pool`vacuum analyze bench_recipients`
  const child = fork(import.meta.filename, [account_id, channel], {
    env: { ...env, DATABASE_URL: database_url },
    execArgv: [...nodeFlags],
    stdio: 'inherit',
  })
  const died = once(child, 'exit').then(() => Promise.reject(new Error('the producer ended')))
  died.catch(() => undefined)
  const nextAnswer = async () =>
    ((await Promise.race([once(child, 'message'), died])) as [Submitted | { readonly error: string }])[0]
  await nextAnswer()
  let submitted = 0
  return {
    async submit(count, within_ms) {
      child.send({ from: submitted, count, within_ms } satisfies Task)
      submitted += count
      const answer = await nextAnswer()
      if ('error' in answer) throw new Error(`the producer failed: ${answer.error}`)
      return answer
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await died.catch(() => undefined)
    },
  }
}

/** Claims rows without a message and stores their outcome. */
const fragment: ProducerFragment = {
  kind,
  columns: [],
  claim: (sql) => sql`
    select
    from bench_recipients r
    where r.submission_key = i.submission_key and r.account_id = i.account_id and r.message_id is null and r.code is null
    for update skip locked`,
  complete: (sql) => sql`
    update bench_recipients r
    set message_id = s.message_id, code = s.code
    from submitted s
    where r.submission_key = s.key and r.account_id = s.account_id
    returning r.message_id`,
  async known(sql, rows) {
    const keys = rows.map(({ submission_key }) => submission_key)
    const found = await sql<{ submission_key: string; message_id: string }[]>`
      select submission_key, message_id
      from bench_recipients
      where submission_key = any (${keys}::text[]) and message_id is not null`
    const ids = new Map(found.map(({ submission_key, message_id }) => [submission_key, message_id]))
    return new Map(
      rows.flatMap(({ n, submission_key }) =>
        ids.has(submission_key!) ? [[n, ids.get(submission_key!)!] as const] : [],
      ),
    )
  },
}

async function producer(account_id: string, channel: string): Promise<(task: Task) => Promise<Submitted>> {
  const platform = await openPlatform('producer', connections)
  const billing = billingService(platform)
  const deps = { platform, billing, channels: channelService(platform), queues: queueLimit(platform) }
  const ingest = groupCommit({
    platform,
    billing,
    projections: projectionsOf(platform, []),
    producers: producersOf([fragment]),
    memoryQueue: { accepts: () => false, process_id: platform.process_id, lease_ms: 60_000, offer: () => undefined },
    alone: () => false,
    onAccepted: () => undefined,
  })
  const tenant: Tenant = { account_id: account_id as Tenant['account_id'], mode: 'live' }
  const itemOf = async (n: number): Promise<SubmissionItem> => ({
    submission_key: `${origin.id}/${n}`,
    message: await checkMessage(deps, tenant, {
      channel,
      to: `+1${3_100_000_000 + n}`,
      type: 'text',
      text: { body: `Our sale begins today, number ${n}.` },
    }),
  })
  return async ({ from, count, within_ms }) => {
    const began = performance.now()
    let next = from
    let accepted = 0
    const work = async () => {
      while (next < from + count && performance.now() - began < within_ms) {
        const first = next
        next = Math.min(first + submissionItems, from + count)
        const items = await Promise.all(Array.from({ length: next - first }, (_, i) => itemOf(first + i)))
        const outcomes = await ingest.submit({ origin, traffic: 'bulk', items, producer: { kind } })
        const other = outcomes.find((outcome) => outcome.kind !== 'accepted')
        if (other !== undefined) throw new Error(`an item was not accepted: ${JSON.stringify(other)}`)
        accepted += outcomes.length
      }
    }
    await Promise.all(Array.from({ length: submissionsAtOnce }, work))
    return { accepted, seconds: (performance.now() - began) / 1000 }
  }
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  const [account_id, channel] = process.argv.slice(2)
  const submit = await producer(account_id!, channel!)
  process.on('message', (task: Task) => {
    submit(task).then(
      (submitted) => process.send!(submitted),
      (error: unknown) => process.send!({ error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
  process.send({ accepted: 0, seconds: 0 } satisfies Submitted)
}
