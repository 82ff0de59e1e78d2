/** The JSON of an event. */
import type { Event } from '../../../api/resources/event.ts'
import type { EventRow } from '../../../platform/events/outbox.ts'

/** The body of a delivery. The stored object is never parsed, so every attempt sends the same bytes. */
export const eventBody = (row: EventRow): string =>
  `{"id":"${row.id}","object":"event","type":"${row.type}","mode":"${row.mode}","created_at":"${row.created_at}","data":{"object":${row.object}}}`

export const eventObject = (row: EventRow): Event => ({
  id: row.id,
  object: 'event',
  type: row.type,
  mode: row.mode,
  created_at: row.created_at,
  data: { object: JSON.parse(row.object) as Record<string, unknown> },
})
