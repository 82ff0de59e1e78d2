/** Events of types that the service got later than this client. */
import { eventTypes } from './generated/event-types.js'
import type { Event } from './generated/types.js'

declare const later: unique symbol

/** An event whose type this client does not know: all that is certain of it. */
export interface UnknownEvent {
  readonly id: string
  readonly object: 'event'
  readonly type: string & { readonly [later]: true }
  readonly mode: string
  readonly created_at: string
  readonly data: { readonly object: object }
}

/** Whether the service has told something that this client knows nothing of; beyond it every type of event is one of `EventType`. */
export const isUnknownEvent = (event: Event | UnknownEvent): event is UnknownEvent => !eventTypes.includes(event.type)
