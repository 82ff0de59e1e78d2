/** The types of events that this version knows. Written by `npm run gen` from openapi.json: not by hand. */
export const eventTypes: readonly string[] = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.received',
  'channel.connected',
  'channel.disconnected',
  'balance.low',
  'package.exhausted',
  'package.expiring',
  'campaign.started',
  'campaign.paused',
  'campaign.completed',
  'campaign.failed',
  'webhook.test',
]
