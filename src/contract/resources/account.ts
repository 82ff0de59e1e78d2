/** The Account of `GET /v1/me` (behaviour: authentication 6). */
import { Type, type Static } from 'typebox'
import { Mode, objectName } from './shared-fields.ts'

export const accountCapabilities = ['automation_events', 'webhook_filters', 'test_inbound', 'events_feed'] as const

export const Account = Type.Object(
  {
    id: Type.String(),
    object: objectName('account'),
    name: Type.String(),
    mode: Mode,
    api_key: Type.Object({ id: Type.String(), name: Type.String(), scopes: Type.Array(Type.String()) }, { description: 'The key of this request.' }),
    capabilities: Type.Array(Type.String(), { examples: [[...accountCapabilities]] }),
  },
  { $id: 'Account', description: 'The account behind a request.' },
)
export type Account = Static<typeof Account>
