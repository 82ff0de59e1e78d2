/** The scopes of API keys (behaviour: authentication 2.2). `write` does not imply `read`. */
export const scopes = [
  'messages:read',
  'messages:write',
  'channels:read',
  'channels:write',
  'webhooks:read',
  'webhooks:write',
  'contacts:read',
  'contacts:write',
  'campaigns:read',
  'campaigns:write',
  'integrations:read',
  'integrations:write',
  'automation_events:read',
  'automation_events:write',
  'events:read',
  'billing:read',
] as const
export type Scope = (typeof scopes)[number]
