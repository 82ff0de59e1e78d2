/** Joins inbound texts that arrive in parts; missing parts become gaps after a while (behaviour: messages 10.4). */
import { isoTime } from '../../../lib/clock.ts'
import type { Worker } from '../../../platform/jobs/worker.ts'
import { type Db, transact } from '../../../platform/database/sql.ts'
import type { InboundMessage } from '../../../providers/provider.ts'
import type { ChannelRow, ChannelService } from '../../channels/service.ts'
import { type InboundDeps, type NewInbound, type StoredInbound, storeInbound } from './inbound.ts'
import {
  lockParts,
  type PartsKey,
  type PartsRow,
  removeParts,
  takeDueParts,
  type TextPart,
  writeParts,
} from './repository.ts'

export interface ReceivedInbound {
  readonly inbound: NewInbound
  readonly part: InboundMessage['part']
}

type InboundPart = ReceivedInbound & { readonly part: NonNullable<ReceivedInbound['part']> }

const isPart = (message: ReceivedInbound): message is InboundPart =>
  message.part !== undefined && message.inbound.type === 'text'

const waitMs = 5 * 60_000
/** For this long after joining, the same parts are repetitions. */
const repeatedWithinMs = 10 * 60_000
const gap = '…'
const pollEveryMs = 10_000
const dueAtOnce = 500

/**
 * In the place of their last part. A repeated number with another text belongs to a later text, and the earlier one is
 * stored incomplete.
 */
export async function joinParts(tx: Db, received: readonly ReceivedInbound[], now_ms: number): Promise<NewInbound[]> {
  const parts = received.filter(isPart)
  if (parts.length === 0) return received.map(({ inbound }) => inbound)
  const rows = new Map((await lockParts(tx, parts.map(keyOf), isoTime(now_ms))).map((row) => [nameOf(row), row]))
  const texts = received.flatMap((one) => (isPart(one) ? addPart(rows, one, now_ms) : [one.inbound]))
  await writeParts(tx, [...rows.values()])
  return texts
}

/** Returns texts to store now. */
function addPart(rows: Map<string, PartsRow>, one: InboundPart, now_ms: number): NewInbound[] {
  const key = keyOf(one)
  const before = rows.get(nameOf(key))!
  const part: TextPart = {
    number: one.part.number,
    text: bodyOf(one.inbound),
    provider_id: one.inbound.provider_id ?? '',
  }
  const had = before.parts.find(({ number }) => number === part.number)
  if (had !== undefined && (had.text === part.text || had.provider_id === part.provider_id)) return []
  const earlier = had !== undefined && before.status === 'waiting' ? [textOf(before, one.inbound.channel)] : []
  const parts = had === undefined ? [...before.parts, part] : [part]
  const waiting: PartsRow = {
    ...key,
    parts,
    status: 'waiting',
    next_run_at: parts.length === 1 ? isoTime(now_ms + waitMs) : before.next_run_at,
    created_at: parts.length === 1 ? isoTime(now_ms) : before.created_at,
  }
  const whole = parts.length === key.total
  rows.set(
    nameOf(key),
    whole ? { ...waiting, status: 'joined', next_run_at: isoTime(now_ms + repeatedWithinMs) } : waiting,
  )
  return whole ? [...earlier, textOf(waiting, one.inbound.channel)] : earlier
}

const keyOf = ({
  inbound: { account_id, mode, channel, from },
  part: { reference, total },
}: InboundPart): PartsKey => ({
  account_id,
  mode,
  channel_id: channel.id,
  sender: from,
  reference,
  total,
})

const nameOf = ({ channel_id, sender, reference, total }: PartsKey): string =>
  JSON.stringify([channel_id, sender, reference, total])

const bodyOf = ({ content }: NewInbound): string => {
  const { body } = content as { readonly body?: unknown }
  return typeof body === 'string' ? body : ''
}

function textOf({ account_id, mode, sender, total, parts }: PartsRow, channel: ChannelRow): NewInbound {
  const numbers = Array.from({ length: total }, (_, index) => index + 1)
  const body = numbers.map((number) => parts.find((part) => part.number === number)?.text ?? gap).join('')
  const [first] = parts.toSorted((a, b) => a.number - b.number)
  return {
    account_id,
    mode,
    channel,
    from: sender,
    profile_name: null,
    type: 'text',
    content: { body },
    provider_id: first!.provider_id,
    reply_to: null,
  }
}

export interface PartsDeps extends InboundDeps {
  readonly channels: Pick<ChannelService, 'findIn'>
}

export function partsWorker(deps: PartsDeps): Worker {
  const { platform, projections } = deps
  return {
    name: 'inbound-parts',
    poll_every_ms: pollEveryMs,
    async tick() {
      const done = await transact(platform.pool, async (tx) => await endDue(deps, tx))
      if (done.rows.length > 0) platform.notify('fan-out')
      if (done.replies.length > 0) platform.notify('dispatch')
      projections.wake(done.replies)
      return done.ended
    },
  }
}

async function endDue(deps: PartsDeps, tx: Db): Promise<StoredInbound & { readonly ended: number }> {
  const { clock, retention_clock } = deps.platform
  const taken = await takeDueParts(tx, isoTime(clock.now()), dueAtOnce)
  const due = taken.filter(({ next_run_at, created_at }) => retention_clock.isPast(Date.parse(next_run_at), created_at))
  await removeParts(tx, due)
  const texts: NewInbound[] = []
  for (const row of due) {
    if (row.status === 'joined') continue
    const channel = await deps.channels.findIn(tx, row, row.channel_id)
    // the channel may have been deleted
    if (channel !== null && row.parts.length > 0) texts.push(textOf(row, channel))
  }
  return { ...(await storeInbound(deps, tx, texts)), ended: due.length }
}
