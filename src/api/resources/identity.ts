/** Identities at the OIDC provider (behaviour: console 3). */
import { Type } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'

const Name = Type.String({ description: 'Name of the identity provider.' })
const Email = NullableString({ description: 'As the provider told it; nobody is found by it.' })

export const Identity = Type.Object(
  {
    object: objectName('identity'),
    id: Type.String({ description: 'Prefix `idn_`.' }),
    name: Name,
    email: Email,
    created_at: Timestamp(),
  },
  { $id: 'Identity', description: 'With which somebody signs in at the OIDC provider.' },
)

export const PendingIdentity = Type.Object(
  {
    object: objectName('oauth_pending'),
    name: Name,
    email: Email,
    expires_at: Timestamp(),
  },
  { $id: 'PendingIdentity', description: 'An identity that waits to be linked.' },
)
