/** Texts of API keys, requests, events and webhooks. */

export const developers = {
  tabs: { keys: 'API keys', requests: 'Requests', snippets: 'Snippets' },
  create: 'Create key',
  noKeys: 'There is no key of this mode.',
  made: 'API key',
  name: 'Name',
  expires: 'Expires',
  expiresHint: 'A date or a time; empty: never.',
  addresses: 'Allowed addresses',
  addressesHint: 'Addresses or ranges such as 203.0.113.0/24, with commas between them; empty: from everywhere.',
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
  everywhere: 'everywhere',
  inForce: 'in force',
  revokedAt: (at: string) => `revoked ${at}`,
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeWhy: 'Programs that use it are refused at once. That cannot be undone.',
  revoked: (name: string) => `${name} is revoked.`,
  requestId: 'Request id',
  requestsWhy: 'Refusals and changes of the last seven days, of the mode above.',
  requestsEmpty: 'Nothing was refused or changed.',
  requestColumns: { at: 'At', id: 'Request', what: 'What', status: 'Status', code: 'Code', by: 'By', took: 'Took' },
  refused: 'Show',
  all: 'All',
  refusedOnly: 'Refused',
  took: (ms: number) => `${ms} ms`,
  snippetsWhy: 'A message to a test recipient. Put a key of this account in place of svc_test_….',
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

const counted = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`

export const webhooks = {
  create: 'New endpoint',
  empty: 'No endpoint receives events yet.',
  columns: { url: 'URL', events: 'Events', status: 'Status', description: 'Description', createdAt: 'Created at' },
  allEvents: 'All events',
  url: 'URL',
  urlHint: 'A public https address, such as https://example.com/webhooks.',
  description: 'Description',
  events: 'Events',
  eventsWhy: 'All of them, or at least one.',
  more: 'More settings',
  filters: 'Only events of',
  filtersWhy: 'What is left empty lets everything through.',
  channels: 'Channels',
  campaigns: 'Campaigns',
  idsHint: 'Ids, one a line.',
  channelTypes: 'Channel types',
  directions: 'Directions',
  messageTypes: 'Message types',
  metadata: 'Metadata',
  metadataHint: 'A JSON object of your own, returned unchanged.',
  metadataWrong: 'Write a JSON object, such as {"team": "orders"}.',
  token: 'Verification token',
  tokenHint: 'Sent with every delivery, for receivers that cannot check signatures. Never shown again.',
  tokenKept: 'Left empty, it stays as it is.',
  source: 'Source',
  sourceHint: 'The integration source (src_…) that it is created for.',
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
      'A new secret signs deliveries from now on. With a time to change over, the previous one signs them as well until then.',
    rollFor: 'The previous secret signs as well for',
    rollTimes: { now: 'No time', hour: '1 hour', day: '24 hours' },
    edit: 'Change',
    save: 'Save',
    saved: 'Saved.',
    enable: 'Enable',
    disable: 'Disable',
    disableWhy: 'What is pending fails, and what happens while it is disabled is never sent.',
    disabled: 'Disabled.',
    enabled: 'Enabled.',
    enableFirst: 'Enable it first: a disabled endpoint gets nothing.',
    delete: 'Delete',
    deleteWhy: (url: string) => `${url} receives nothing any more, and what is pending for it is dropped.`,
    delivered: (type: string, status: number | null, ms: number | null) =>
      `${type} was delivered: answered ${status ?? '–'} in ${ms ?? '–'} ms.`,
    failed: (type: string, why: string) => `${type} was not delivered: ${why}`,
    waiting: (type: string) => `${type} is still on its way; the table shows what becomes of it.`,
  },

  replay: {
    button: 'Replay failed',
    none: 'No delivery has failed.',
    why: (count: number) =>
      `${counted(count)} failed and can be made again: one attempt each, with the same event and a fresh signature.`,
    whyMany: (most: number) =>
      `${most.toLocaleString('en')} deliveries or more failed. The oldest ${most.toLocaleString('en')} are made again now: one attempt each. Repeat it for the rest.`,
    begun: (count: number) => `${counted(count)} on the way once more; the table shows what becomes of them.`,
    ended: (delivered: number, failed: number) =>
      failed === 0
        ? `${counted(delivered)} made again: all were delivered.`
        : `${delivered} delivered, ${failed} failed again.`,
  },

  deliveries: {
    title: 'Deliveries',
    empty: 'Nothing was delivered yet.',
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
    pending: 'It is attempted anyway.',
  },
} as const
