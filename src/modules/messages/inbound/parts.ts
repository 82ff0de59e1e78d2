/**
 * Texts that come in parts: kept until all parts have come, whichever process takes which, and told with gaps where some do not come
 * (behaviour: messages 10.4).
 */
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

/** A message as it came, whole or a part: then its text is the content. */
export interface ToldInbound {
  readonly inbound: NewInbound
  readonly part: InboundMessage['part']
}

type InboundPart = ToldInbound & { readonly part: NonNullable<ToldInbound['part']> }

const isPart = (told: ToldInbound): told is InboundPart => told.part !== undefined && told.inbound.type === 'text'

/** What is missing then does not come any more. */
const waitMs = 5 * 60_000
/** Parts that are told again so soon after they were joined are those. */
const toldAgainWithinMs = 10 * 60_000
const gap = '…'
const lookEveryMs = 10_000
const dueAtOnce = 500

/**
 * Keeps the parts among these messages; resolves to those that are whole, and the texts that are complete now, each in the place of its last part. A part that is told again changes nothing; another one in its place is of a
 * later text with the same reference, before which the earlier one is told as it is.
 */
export async function joinParts(tx: Db, told: readonly ToldInbound[], now_ms: number): Promise<NewInbound[]> {
  const given = told.filter(isPart)
  if (given.length === 0) return told.map(({ inbound }) => inbound)
  const rows = new Map((await lockParts(tx, given.map(keyOf), isoTime(now_ms))).map((row) => [nameOf(row), row]))
  const texts = told.flatMap((one) => (isPart(one) ? addPart(rows, one, now_ms) : [one.inbound]))
  await writeParts(tx, [...rows.values()])
  return texts
}

/** Adds a part to what has come; the texts that are to be told then. */
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
  const cut = had !== undefined && before.status === 'waiting' ? [textOf(before, one.inbound.channel)] : []
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
    whole ? { ...waiting, status: 'joined', next_run_at: isoTime(now_ms + toldAgainWithinMs) } : waiting,
  )
  return whole ? [...cut, textOf(waiting, one.inbound.channel)] : cut
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

/** The text of the parts that have come, in their order, known by the id of the first of them. */
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

/** Tells texts of which some parts did not come in time, and forgets those that were joined a while ago. */
export function partsWorker(deps: PartsDeps): Worker {
  const { platform, projections } = deps
  return {
    name: 'inbound-parts',
    idle_ms: lookEveryMs,
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
    // a channel deleted since has nobody to tell
    if (channel !== null && row.parts.length > 0) texts.push(textOf(row, channel))
  }
  return { ...(await storeInbound(deps, tx, texts)), ended: due.length }
}
