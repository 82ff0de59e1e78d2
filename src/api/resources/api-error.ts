/** The error envelope: every reply with another status than 2xx and 304 (behaviour: conventions 7). */
import { Type, type Static } from 'typebox'
import { detailCodes, errorCodes, errorTypes } from '../errors.ts'

export const ErrorBody = Type.Object(
  {
    type: Type.String({ enum: [...errorTypes], description: 'The category, which follows from the status.' }),
    code: Type.String({
      enum: [...errorCodes],
      description: 'Stable; branch on it, never on `message`. More may be added.',
    }),
    message: Type.String({ description: 'For people; the wording may change.' }),
    param: Type.Optional(Type.String({ description: 'The request field, such as `text.body`.' })),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          param: Type.String({ description: 'The request field, such as `text.body`.' }),
          code: Type.String({ enum: [...detailCodes], description: 'The error code.' }),
          message: Type.String({ description: 'A sentence for people: what to do.' }),
        }),
        {
          description: 'Every failure of a validation round.',
        },
      ),
    ),
    request_id: Type.String({ description: 'The same as the header `X-Request-Id`.' }),
    doc_url: Type.String({ description: 'The entry of `code` in the reference.' }),
  },
  { $id: 'ErrorBody' },
)
export type ErrorBody = Static<typeof ErrorBody>

export const ApiError = Type.Object({ error: ErrorBody }, { $id: 'ApiError', description: 'The error envelope.' })
