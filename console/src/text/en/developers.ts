/** Texts of API keys, requests, events and webhooks. */

export const developers = {
  tabs: { keys: 'API keys', requests: 'Requests', snippets: 'Snippets' },
  create: 'Create key',
  noKeys: 'There are no API keys in this mode.',
  made: 'API key',
  name: 'Name',
  expires: 'Expires',
  expiresHint: 'A date or time. Leave empty for no expiry.',
  addresses: 'Allowed addresses',
  addressesHint:
    'IP addresses or ranges such as 203.0.113.0/24, separated by commas. Leave empty to allow every address.',
  scopes: 'Scopes',
  submit: 'Create',
  columns: {
    name: 'Name',
    key: 'Key',
    scopes: 'Scopes',
    addresses: 'From',
    expires: 'Expires',
    created: 'Created',
    state: 'State',
  },
  everywhere: 'anywhere',
  inForce: 'active',
  revokedAt: (at: string) => `revoked ${at}`,
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeWhy: 'Programs that use this key are rejected immediately. This cannot be undone.',
  revoked: (name: string) => `${name} was revoked.`,
  requestId: 'Request id',
  requestsWhy: 'Failed requests and changes of the last seven days, in the current mode.',
  requestsEmpty: 'No requests failed or changed anything.',
  requestColumns: { at: 'At', id: 'Request', what: 'What', status: 'Status', code: 'Code', by: 'By', took: 'Duration' },
  refused: 'Show',
  all: 'All',
  refusedOnly: 'Failed',
  took: (ms: number) => `${ms} ms`,
  times: (count: number) => `× ${count}`,
  snippetsWhy: 'Sends a message to a test recipient. Replace svc_test_… with an API key of this account.',
  languages: { curl: 'curl', typescript: 'TypeScript', python: 'Python' },
  found: 'Found',
} as const

export const snippets: Readonly<Record<'curl' | 'typescript' | 'python', (origin: string) => string>> = {
  curl: (origin) => `curl ${origin}/v1/messages \\
  -H 'Authorization: Bearer svc_test_…' \\
  -H 'Content-Type: application/json' \\
  -d '{"channel":"ch_test_whatsapp","to":"+15005550006","type":"text","text":{"body":"Hello"}}'`,
  typescript: (origin) => `import { Posthorn } from '@posthorn/client'

const posthorn = new Posthorn({ apiKey: 'svc_test_…', baseUrl: '${origin}' })
const message = await posthorn.messages.send({
  channel: 'ch_test_whatsapp',
  to: '+15005550006',
  type: 'text',
  text: { body: 'Hello' },
})
console.log(message.id, message.status)`,
  python: (origin) => `import requests

answer = requests.post(
    '${origin}/v1/messages',
    headers={'Authorization': 'Bearer svc_test_…'},
    json={'channel': 'ch_test_whatsapp', 'to': '+15005550006', 'type': 'text', 'text': {'body': 'Hello'}},
)
print(answer.json()['id'])`,
}

export const events = {
  empty: 'There are no events yet. Send a message to see its events here.',
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

const counted = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`

export const webhooks = {
  create: 'New endpoint',
  empty: 'There are no endpoints yet. An endpoint receives events by webhook.',
  columns: { url: 'URL', events: 'Events', status: 'Status', description: 'Description', createdAt: 'Created at' },
  allEvents: 'All events',
  url: 'URL',
  urlHint: 'A public https address, such as https://example.com/webhooks.',
  description: 'Description',
  events: 'Events',
  eventsWhy: 'Choose all events or at least one type.',
  more: 'More settings',
  filters: 'Filters',
  filtersWhy: 'Leave a filter empty to receive everything.',
  channels: 'Channels',
  campaigns: 'Campaigns',
  idsHint: 'One ID per line.',
  channelTypes: 'Channel types',
  directions: 'Directions',
  messageTypes: 'Message types',
  metadata: 'Metadata',
  metadataHint: 'Your own data as a JSON object, returned unchanged.',
  metadataWrong: 'This is not a JSON object. Write it like {"team": "orders"}.',
  token: 'Verification token',
  tokenHint: 'Sent with every delivery, for receivers that cannot verify signatures. It is never shown again.',
  tokenKept: 'Leave empty to keep the current one.',
  source: 'Source',
  sourceHint: 'The ID of the integration source (src_…) that this endpoint belongs to.',
  createButton: 'Create',
  created: 'The endpoint was created.',
  secret: 'Signing secret',
  yes: 'Yes',
  no: 'No',

  one: {
    facts: 'Endpoint',
    id: 'Id',
    createdBy: 'Created by',
    test: 'Send test event',
    roll: 'Roll secret',
    rollWhy:
      'Deliveries are signed with a new secret from now on. During the transition they are signed with the previous secret too.',
    rollFor: 'Keep the previous secret valid for',
    rollTimes: { now: 'No time', hour: '1 hour', day: '24 hours' },
    edit: 'Change',
    save: 'Save',
    saved: 'Saved.',
    enable: 'Enable',
    disable: 'Disable',
    disableWhy: 'Pending deliveries fail, and events that happen while the endpoint is disabled are never sent.',
    disabled: 'Disabled.',
    enabled: 'Enabled.',
    enableFirst: 'This endpoint is disabled. Enable it first.',
    delete: 'Delete',
    deleteWhy: (url: string) => `${url} receives no more events, and pending deliveries are dropped.`,
    delivered: (type: string, status: number | null, ms: number | null) =>
      `${type} was delivered: response ${status ?? '–'} in ${ms ?? '–'} ms.`,
    failed: (type: string, why: string) => `${type} was not delivered: ${why}`,
    waiting: (type: string) => `${type} is still being delivered. The table shows the result.`,
  },

  replay: {
    button: 'Replay failed',
    none: 'No deliveries have failed.',
    why: (count: number) =>
      `${counted(count)} failed. Replaying makes one attempt each, with the same event and a new signature.`,
    whyMany: (most: number) =>
      `${most.toLocaleString('en')} deliveries or more failed. The oldest ${most.toLocaleString('en')} are replayed now, with one attempt each; repeat this for the rest.`,
    begun: (count: number) => `Replaying ${counted(count)}. The table shows the results.`,
    ended: (delivered: number, failed: number) =>
      failed === 0
        ? `Replayed ${counted(delivered)}: all succeeded.`
        : `${delivered} delivered, ${failed} failed again.`,
  },

  deliveries: {
    title: 'Deliveries',
    empty: 'There are no deliveries yet.',
    status: 'Status',
    anyStatus: 'All statuses',
    columns: {
      event: 'Event',
      type: 'Type',
      status: 'Status',
      attempts: 'Attempts',
      answer: 'Answer',
      at: 'Created at',
      next: 'Next attempt',
    },
    unwrap: (status: number, ms: number | null) => (ms === null ? String(status) : `${status} in ${ms} ms`),
    retry: 'Retry',
    pending: 'This delivery is already waiting for its next attempt.',
  },
} as const
