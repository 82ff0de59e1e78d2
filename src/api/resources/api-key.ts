/** API keys of the console, without their text or hash. */
import { Type, type Static } from 'typebox'
import { scopes, type Scope } from '../scopes.ts'
import { NullableTimestamp, Timestamp } from './nullable.ts'
import { Mode, objectName } from './shared-fields.ts'

const ScopeName = Type.Unsafe<Scope>({ type: 'string', enum: [...scopes] })

const fields = {
  object: objectName('api_key'),
  id: Type.String({ description: 'Prefix `key_`.' }),
  mode: Mode,
  name: Type.String({ description: 'Name of the key: its purpose.' }),
  last_four: Type.String({ description: 'The last four characters of its text, to tell it by.' }),
  scopes: Type.Array(ScopeName, { description: 'Operations that the key may use.' }),
  ip_allowlist: Type.Array(Type.String(), { description: 'The addresses and CIDR ranges that may use it; none: all.' }),
  expires_at: NullableTimestamp({ description: 'From when on it is refused, or null.' }),
  revoked_at: NullableTimestamp({ description: 'When it was revoked, or null.' }),
  created_at: Timestamp(),
}

export const ApiKey = Type.Object(fields, { $id: 'ApiKey', description: 'An API key.' })
export type ApiKey = Static<typeof ApiKey>

export const ApiKeyWithText = Type.Object(
  { ...fields, key: Type.String({ description: 'Its text, which is shown only here.' }) },
  { $id: 'ApiKeyWithText', description: 'An API key that has just been made.' },
)
export type ApiKeyWithText = Static<typeof ApiKeyWithText>

export const ApiKeyCreation = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 120, description: 'Name of the key: its purpose.', examples: ['Shop'] }),
    ),
    mode: Type.Unsafe<'live' | 'test'>({
      type: 'string',
      enum: ['live', 'test'],
      description: 'The mode that it works in.',
      examples: ['test'],
    }),
    scopes: Type.Optional(
      Type.Array(ScopeName, { minItems: 1, description: 'Operations that the key may use. Default: all.' }),
    ),
    expires_at: Type.Optional(
      NullableTimestamp({ format: 'date-time', description: 'From when on it is refused. Default: never.' }),
    ),
    ip_allowlist: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 100,
        description: 'The addresses and CIDR ranges that may use it. Default: all.',
        examples: [['192.0.2.0/24']],
      }),
    ),
  },
  { additionalProperties: false },
)
export type ApiKeyCreation = Static<typeof ApiKeyCreation>
