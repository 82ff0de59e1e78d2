/** Audit log entries (behaviour: console-records 1). */
import { Type, type Static } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { objectName } from './shared-fields.ts'

export const AuditEntry = Type.Object(
  {
    object: objectName('audit_entry'),
    id: Type.String({ description: 'Prefix `aud_`.' }),
    actor: Type.Object(
      {
        type: Type.Unsafe<'user' | 'api_key' | 'command'>({
          type: 'string',
          enum: ['user', 'api_key', 'command'],
          description: 'Kind of actor.',
        }),
        id: Type.String({
          description: 'Of the user (`usr_`) or the API key (`key_`); of a command its words, such as `keys create`.',
        }),
      },
      { description: 'Who changed it.' },
    ),
    impersonator_id: NullableString({
      description: 'Of the administrator (`usr_`) who acted in the place of the actor, or null.',
    }),
    action: Type.String({ description: 'The operation, such as `campaigns.launch`.' }),
    object_id: NullableString({ description: 'Of what was changed, or null.' }),
    changes: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The fields that were given, as they are now. Secrets are masked, long texts and lists are cut.',
    }),
    address: NullableString({ description: 'The internet address it was asked from; null for a command.' }),
    request_id: NullableString({ description: 'The `X-Request-Id` of the answer; null for a command.' }),
    created_at: Timestamp(),
  },
  { $id: 'AuditEntry', description: 'A change of an account, and who made it. Kept for a year, and never changed.' },
)
export type AuditEntry = Static<typeof AuditEntry>
