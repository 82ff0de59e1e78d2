/** What somebody may do only soon after they have shown who they are (behaviour: console 3.4). */
import { Problem } from '../../../api/problem.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Session } from './sessions.ts'

/** Throws `reauthentication_required` where password and second factor were given too long ago. */
export function requireRecent({ clock, settings }: Platform, { authenticated_at }: Session): void {
  if (clock.now() - Date.parse(authenticated_at) > settings.reauthenticate_after_ms)
    throw new Problem('reauthentication_required')
}

/** Of `/v1`: credentials of channels, rolls, and the export. */
const operations: ReadonlySet<string> = new Set([
  'channels.create',
  'contacts.export',
  'contacts.export_data',
  'integration_sources.roll_key',
  'webhook_endpoints.roll_secret',
])

/** Whether an operation of `/v1` does so, whatever it is given. */
export const takesRecent = (operation: string): boolean => operations.has(operation)
