/** Rows of the event feed and of webhooks as receivers and the interface see them. */
import type { EventRow } from '../../platform/outbox.ts'

/** The body of an event, the same bytes whenever it is built: the stored object is never parsed. */
export const eventBody = (row: EventRow): string =>
  `{"id":"${row.id}","object":"event","type":"${row.type}","mode":"${row.mode}","created_at":"${row.created_at}","data":{"object":${row.object}}}`
