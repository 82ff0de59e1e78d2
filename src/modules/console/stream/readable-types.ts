/** Which events a role may hear of: those of objects that it may read (behaviour: console 8.2). */
import { eventTypes } from '../../../api/events.ts'
import type { Scope } from '../../../api/scopes.ts'

type ObjectKind = (typeof eventTypes)[keyof typeof eventTypes]['object']

const readingScopes: Readonly<Record<ObjectKind, Scope>> = {
  message: 'messages:read',
  channel: 'channels:read',
  balance: 'billing:read',
  package: 'billing:read',
  campaign: 'campaigns:read',
  webhook_endpoint: 'webhooks:read',
}

export function readableTypes(scopes: readonly Scope[]): ReadonlySet<string> {
  return new Set(
    Object.entries(eventTypes).flatMap(([type, { object }]) => (scopes.includes(readingScopes[object]) ? [type] : [])),
  )
}
