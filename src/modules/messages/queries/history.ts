/** The history of a message (behaviour: messages 9.2), derived from its time stamps and its events: nothing is written for it. */
import { createHash } from 'node:crypto'
import type { MessageHistoryItem, MessageStatus } from '../../../api/resources/message.ts'
import { errorObject } from '../present.ts'
import type { MessageRow } from '../message.ts'
import type { EventOfObject } from '../../../platform/events/outbox.ts'

/** Newest first. Every status reached is one item; `event_id` is that of the public event while it is kept. */
export function historyOf(row: MessageRow, events: readonly EventOfObject[]): MessageHistoryItem[] {
  const eventIds = new Map(events.map((event) => [event.type, event.id]))
  const reached = new Set(events.map((event) => event.type))
  const item = (status: MessageStatus, created_at: string): MessageHistoryItem => ({
    id: historyId(row.id, status),
    object: 'message_event',
    message_id: row.id,
    type: `message.${status}`,
    status,
    error: status === 'failed' ? errorObject(row.error) : null,
    event_id: eventIds.get(`message.${status}`) ?? null,
    created_at,
  })
  if (row.direction === 'inbound') return [item('received', row.created_at)]
  const items = [item('queued', row.created_at)]
  if (row.sending_at !== null) items.push(item('sending', row.sending_at))
  // a receipt that overtook a status sets its time too, but the status was never reached
  const overtaken = (status: MessageStatus, next_at: string | null, at: string) =>
    events.length > 0 && !reached.has(`message.${status}`) && next_at === at
  if (row.sent_at !== null && !overtaken('sent', row.delivered_at ?? row.read_at, row.sent_at))
    items.push(item('sent', row.sent_at))
  if (row.delivered_at !== null && !overtaken('delivered', row.read_at, row.delivered_at))
    items.push(item('delivered', row.delivered_at))
  if (row.read_at !== null) items.push(item('read', row.read_at))
  if (row.failed_at !== null) items.push(item('failed', row.failed_at))
  return items.toReversed()
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The id of one step of one message: the same at every look, ordered by the message's time and the step. */
function historyId(message_id: string, status: MessageStatus): string {
  const digest = createHash('sha256').update(`${message_id} ${status}`).digest()
  const order = ['received', 'queued', 'sending', 'sent', 'delivered', 'read', 'failed'].indexOf(status)
  const random = Array.from({ length: 14 }, (_, index) => alphabet[digest[index]! & 31]!).join('')
  // time (10 characters), version and the step in its sequence, variant
  return `mev_${message_id.slice(4, 14)}f${alphabet[order]!}${random}`
}
