/** What a request answered when it did not do what was asked: the API's error envelope, or that nothing was heard. */
import { text } from '../text/en.ts'

export interface Detail {
  readonly param: string
  readonly code: string
  readonly message: string
}

/** `code` is the API's, or `network` where no answer came, or `unexpected` where it was not understood. */
export class Problem extends Error {
  readonly code: string
  readonly status: number
  readonly param: string | undefined
  readonly details: readonly Detail[]
  readonly request_id: string | undefined

  constructor(
    status: number,
    body: { code: string; message: string; param?: string; details?: readonly Detail[]; request_id?: string },
  ) {
    super(body.message)
    this.name = 'Problem'
    this.status = status
    this.code = body.code
    this.param = body.param
    this.details =
      body.details ?? (body.param === undefined ? [] : [{ param: body.param, code: body.code, message: body.message }])
    this.request_id = body.request_id
  }

  /** What is wrong with the field of this name, or with something in it. */
  about(param: string): string | undefined {
    return this.details.find(
      (detail) =>
        detail.param === param || detail.param.startsWith(`${param}.`) || detail.param.startsWith(`${param}[`),
    )?.message
  }
}

/** Whatever was thrown, as a problem. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(0, { code: 'network', message: text.problem.network })
}

/** The problem in the answer with this status and body. */
export function problemIn(status: number, body: unknown): Problem {
  const error = (body as { error?: unknown } | undefined)?.error
  if (typeof error === 'object' && error !== null && 'code' in error)
    return new Problem(status, error as ConstructorParameters<typeof Problem>[1])
  return new Problem(status, { code: 'unexpected', message: text.problem.unexpected })
}
