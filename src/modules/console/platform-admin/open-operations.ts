/** What an administrator of the platform may do for somebody else: read, pause, retry, test and reconnect (behaviour: console 3.15). */
import type { Route } from '../../../platform/http/route.ts'
import type { Permission } from '../roles.ts'

/** Beside reads. Some only work something out, though they are asked for with a body. */
export const openToImpersonation: readonly string[] = [
  'session.delete',
  'session.reauthenticate',
  'impersonations.delete',
  'campaigns.pause',
  'campaigns.rehearse',
  'automations.simulate',
  'segments.preview',
  'channels.reconnect',
  'webhook_endpoints.test',
  'webhook_endpoints.retry_delivery',
  'deliveries.retry',
  'segment_previews.create',
  'preview.message',
]

const open: ReadonlySet<string> = new Set(openToImpersonation)

export const isOpenToImpersonation = (
  { method, operation }: Pick<Route, 'method' | 'operation'>,
  permission: Permission | undefined,
): boolean => permission !== 'export' && (method === 'GET' || open.has(operation))
