/** An expected refusal, thrown by services and turned into the error envelope by the HTTP layer and the command line. */
import { errorCatalogue, type Detail, type ErrorCode } from './errors.ts'
import { limits } from './limits.ts'

export class Problem extends Error {
  readonly code: ErrorCode
  readonly param: string | undefined
  readonly details: readonly Detail[] | undefined
  /** Extra response headers, for example `Retry-After`. */
  readonly headers: Readonly<Record<string, string>> | undefined

  /** `message` is a sentence that tells the reader what to do next; absent, the catalogue's own title and fix are used. */
  constructor(code: ErrorCode, message?: string, more: { param?: string; details?: readonly Detail[]; headers?: Record<string, string> } = {}) {
    super(message ?? `${errorCatalogue[code].title} ${errorCatalogue[code].fix}`)
    this.name = 'Problem'
    this.code = code
    this.param = more.param
    this.details = more.details
    this.headers = more.headers
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }

  /** The refusal for a round of validation failures: `parameter_missing` when each is a missing field, else `parameter_invalid`. It names the first hundred of them. */
  static invalid(details: readonly [Detail, ...Detail[]]): Problem {
    const code = details.every((detail) => detail.code === 'missing_field') ? 'parameter_missing' : 'parameter_invalid'
    return new Problem(code, details[0].message, { param: details[0].param, details: details.slice(0, limits.error_details_max) })
  }
}

/** A `parameter_invalid` or `parameter_missing` with one detail. */
export function invalid(param: string, code: Detail['code'], message: string): Problem {
  return Problem.invalid([{ param, code, message }])
}

/** 404 for an object of this kind that the caller cannot see. */
export function missing(kind: string, id: string, param?: string): Problem {
  return new Problem(
    'resource_missing',
    `No ${kind} ${JSON.stringify(id.slice(0, 80))} exists in this account and mode. Check the id and the mode of the key.`,
    param === undefined ? {} : { param },
  )
}
