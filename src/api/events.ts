/** The event types (behaviour: webhooks 1.3): one entry each, with the kind of `data.object`. */
export const eventTypes = {
  'message.sent': { object: 'message', when: 'the provider accepted an outbound message' },
  'message.delivered': { object: 'message', when: 'an outbound message reached the recipient device' },
  'message.read': { object: 'message', when: 'the recipient opened an outbound message' },
  'message.failed': {
    object: 'message',
    when: 'an outbound message could not be delivered; its charge is already refunded',
  },
  'message.received': { object: 'message', when: "a message arrived on one of the account's channels" },
  'channel.connected': { object: 'channel', when: 'a channel reached connection_status connected' },
  'channel.disconnected': { object: 'channel', when: 'a channel lost its provider link' },
  'balance.low': {
    object: 'balance',
    when: 'the wallet is below its threshold and no package credits remain; at most once every 24 hours',
  },
  'package.exhausted': { object: 'package', when: 'the last credit of a package was consumed' },
  'package.expiring': { object: 'package', when: 'a package with unused credits expires within 7 days' },
  'campaign.started': { object: 'campaign', when: 'a campaign began sending, or was resumed' },
  'campaign.paused': { object: 'campaign', when: 'a campaign stopped sending' },
  'campaign.completed': { object: 'campaign', when: 'every recipient of a campaign was processed' },
  'campaign.failed': { object: 'campaign', when: 'a campaign could not continue' },
  'webhook.test': { object: 'webhook_endpoint', when: 'a test was requested for a webhook endpoint' },
} as const satisfies Record<string, { object: string; when: string }>

export type EventType = keyof typeof eventTypes
/** A type, or the prefix of several. */
export const eventFilters: readonly string[] = [
  ...Object.keys(eventTypes),
  ...new Set(Object.keys(eventTypes).map((type) => `${type.split('.')[0]!}.*`)),
]
