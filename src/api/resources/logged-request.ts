/** Logged requests of the console (behaviour: console 4). */
import { Type, type Static } from 'typebox'
import { NullableString, Timestamp } from './nullable.ts'
import { Mode, objectName } from './shared-fields.ts'

export const LoggedRequest = Type.Object(
  {
    object: objectName('request'),
    id: Type.String({ description: 'Prefix `req_`; the `X-Request-Id` of its answer.' }),
    mode: Mode,
    method: Type.String({ description: 'Such as `POST`.' }),
    path: Type.String({ description: 'Without its query.' }),
    operation: NullableString({ description: 'Such as `messages.send`; null for a path that names none.' }),
    status: Type.Integer({ description: 'HTTP status of the response.' }),
    code: NullableString({ description: 'Of the error it was refused with, or null.' }),
    key_id: NullableString({
      description: 'The API key (`key_`) or source (`src_`) with which it came; null for somebody in the console.',
    }),
    user_id: NullableString({ description: 'Who sent it in the console (`usr_`), or null.' }),
    duration_ms: Type.Integer({ description: 'How long the answer took, in milliseconds.' }),
    count: Type.Integer({
      description:
        'Requests that the entry stands for: more than 1 for refusals of a key beyond 20 a second. The other fields are those of the first.',
    }),
    created_at: Timestamp(),
  },
  { $id: 'LoggedRequest', description: 'A refusal or a change, kept for seven days. Bodies and keys are never kept.' },
)
export type LoggedRequest = Static<typeof LoggedRequest>
