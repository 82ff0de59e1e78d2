/** The Account of `GET /v1/me` (behaviour: authentication 6). */
import { Type, type Static } from 'typebox'
import { scopes } from '../scopes.ts'
import { Mode, objectName } from './shared-fields.ts'

export const accountCapabilities = ['automation_events', 'webhook_filters', 'test_inbound', 'events_feed'] as const

export const Account = Type.Object(
  {
    id: Type.String({ description: 'Prefix `acc_`.' }),
    object: objectName('account'),
    name: Type.String({ description: 'As the operator called the account.' }),
    mode: Mode,
    api_key: Type.Object(
      {
        id: Type.String({ description: 'Prefix `key_`; it names the key in logs, and reveals nothing of it.' }),
        name: Type.String({ description: 'The name of the key when it was created.' }),
        scopes: Type.Array(Type.String({ enum: [...scopes] }), {
          description: 'The permissions of the key: an operation with another scope responds 403 `scope_missing`.',
        }),
      },
      { description: 'The key of this request.' },
    ),
    capabilities: Type.Array(Type.String({ enum: [...accountCapabilities] }), {
      description: 'Features that this version of the service has; more may be added.',
      examples: [[...accountCapabilities]],
    }),
  },
  { $id: 'Account', description: 'The account behind a request.' },
)
export type Account = Static<typeof Account>
