/** Loads a million messages of the last three days; the oldest match each filter of the list. */
import { once } from 'node:events'
import { randomFillSync } from 'node:crypto'
import { idMaker } from '../src/lib/ids.ts'
import { withoutIndexes } from './without-indexes.ts'
import type { Service } from './service.ts'

const spanMs = 3 * 24 * 3600_000
const chunk = 25_000
const rareCount = 30

export interface Loaded {
  readonly rare: {
    readonly channel: string
    readonly to: string
    readonly reference: string
    readonly created_before: string
    readonly updated_after: string
  }
  readonly ids: readonly string[]
}

export async function loadMessages({ pool, account_id, channel }: Service, count: number): Promise<Loaded> {
  const end = Date.now() - 60_000
  const begin = end - spanMs
  let now = begin
  const ids = idMaker({ now: () => Math.floor(now), sleep: async () => undefined }, randomFillSync)
  const rare = {
    channel: 'ch_01jrarerarerarerarerarerar',
    to: '+12025559999',
    reference: 'rare',
    created_before: new Date(begin + (spanMs / count) * rareCount).toISOString(),
    updated_after: new Date(end + 1000).toISOString(),
  }
  const sample: string[] = []
  const [wallet] = await pool<
    { last_sequence: number }[]
  >`select last_sequence from wallets where account_id = ${account_id}`
  const sequence = wallet!.last_sequence
  const load = async () => {
    for (let done = 0; done < count; done += chunk) {
      const messages: string[] = []
      const entries: string[] = []
      for (let n = done; n < Math.min(count, done + chunk); n++) {
        now = begin + (spanMs * n) / count
        const at = new Date(now).toISOString()
        const id = ids('msg')
        const isRare = n < rareCount
        const [direction, status] =
          isRare && n % 3 === 0
            ? ['inbound', 'received']
            : ['outbound', isRare ? (n % 3 === 1 ? 'failed' : 'read') : 'delivered']
        const to = isRare ? rare.to : `+1${2_100_000_000 + ((n * 7919) % 800_000_000)}`
        const updated = isRare ? new Date(end + 2000).toISOString() : at
        messages.push(
          `${account_id}\tlive\t${id}\t${isRare ? rare.channel : channel}\tsms\t${direction}\t${to}\t+12025550100\ttext\t{"body":"Your parcel ${n % 10} is on its way and arrives today."}\t${status}\t${isRare ? rare.reference : `order-${n}`}\t{"order":"${n}"}\twallet\t5000\tapi\t${at}\t${updated}\t${at}\t${at}\n`,
        )
        entries.push(
          `${account_id}\t${ids('txn')}\t${sequence + n + 1}\tmessage_charge\tusd_micros\twallet\tusage\t5000\t${id}\t0\t${at}\n`,
        )
        if (n % Math.ceil(count / 1000) === 0) sample.push(id)
      }
      await copy(
        pool,
        `copy messages (account_id, mode, id, channel_id, channel_type, direction, "to", "from", type, content, status, reference, metadata, billing_source, amount_micros, origin_type, created_at, updated_at, sent_at, delivered_at) from stdin`,
        messages,
      )
      await copy(
        pool,
        'copy ledger_entries (account_id, id, sequence, type, unit, debit, credit, amount, message_id, balance_after_micros, created_at) from stdin',
        entries,
      )
    }
  }
  await withoutIndexes(pool, 'messages', () => withoutIndexes(pool, 'ledger_entries', load))
  await pool`update wallets set last_sequence = ${sequence + count} where account_id = ${account_id}`
  await pool`update message_status_counts set folded = true`
  await pool.unsafe('vacuum analyze messages')
  await pool.unsafe('vacuum analyze ledger_entries')
  await pool.unsafe('vacuum analyze message_status_counts')
  return { rare, ids: sample }
}

async function copy(pool: Service['pool'], statement: string, lines: readonly string[]): Promise<void> {
  const stream = await pool.unsafe(statement).writable()
  if (!stream.write(lines.join(''))) await once(stream, 'drain')
  const finished = once(stream, 'finish')
  stream.end()
  await finished
}
