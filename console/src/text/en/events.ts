/** Of the feed of events. */
export const events = {
  empty: 'Nothing has happened yet. Send a message, and its events stand here.',
  columns: { id: 'Event', type: 'Type', object: 'Object', at: 'Occurred at' },
  type: 'Type',
  object: 'Object id',
  createdAfter: 'Created after',
  createdBefore: 'Created before',
  event: 'Event',
  facts: 'About',
  id: 'Id',
  all: 'All events of this object',
} as const
