/** Of API keys, the request log and snippets. */
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

/** The snippets of the reference's first operation. `origin` is the service's. */
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
