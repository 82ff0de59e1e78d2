/** Events of types that are newer than this client. */
import { eventTypes } from './generated/event-types.js'
import type { Event } from './generated/types.js'

declare const later: unique symbol

/** An event of a type that this client does not know. */
export interface UnknownEvent {
  readonly id: string
  readonly object: 'event'
  readonly type: string & { readonly [later]: true }
  readonly mode: string
  readonly created_at: string
  readonly data: { readonly object: object }
}

/** Whether the event type is newer than this client. Otherwise the type is an `EventType`. */
export const isUnknownEvent = (event: Event | UnknownEvent): event is UnknownEvent => !eventTypes.includes(event.type)
