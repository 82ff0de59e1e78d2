/** An expected error, thrown by services and turned into the error envelope. */
import { consoleErrorCatalogue, type ConsoleErrorCode } from './console-errors.ts'
import { errorCatalogue, type Detail, type ErrorCode, type ErrorEntry } from './errors.ts'
import { limits } from './limits.ts'
import { fitted, surelyFits, type ErrorTexts } from './refusal-size.ts'

export const retrySoon = { 'retry-after': '1' } as const

export type ProblemCode = ErrorCode | ConsoleErrorCode

export const errorEntry = (code: ProblemCode): ErrorEntry =>
  code in errorCatalogue ? errorCatalogue[code as ErrorCode] : consoleErrorCatalogue[code as ConsoleErrorCode]

export class Problem extends Error {
  readonly code: ProblemCode
  readonly param: string | undefined
  readonly details: readonly Detail[] | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Before truncation. */
  readonly #said: ErrorTexts

  /** Texts and paths are truncated, and surplus failures only counted. */
  constructor(
    code: ProblemCode,
    message?: string,
    more: {
      param?: string | undefined
      details?: readonly Detail[] | undefined
      headers?: Record<string, string> | undefined
    } = {},
    bytes_max: number = limits.error_bytes_max,
  ) {
    const said = {
      message: message ?? `${errorEntry(code).title} ${errorEntry(code).fix}`,
      param: more.param,
      details: more.details,
    }
    const small = surelyFits(said, bytes_max) ? said : fitted(said, bytes_max)
    // capturing a stack costs more than the rest of a refusal
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(small.message)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'Problem'
    this.code = code
    this.param = small.param
    this.details = small.details
    this.headers = more.headers
    this.#said = said
  }

  get status(): number {
    return errorEntry(this.code).status
  }

  /** Truncated to this many bytes of JSON. */
  within(bytes_max: number): Problem {
    return surelyFits(this.#said, bytes_max)
      ? this
      : new Problem(this.code, this.#said.message, { ...this.#said, headers: this.headers }, bytes_max)
  }

  /** `parameter_missing` if every failure is a missing field, otherwise `parameter_invalid`. */
  static invalid(details: readonly [Detail, ...Detail[]]): Problem {
    const code = details.every((detail) => detail.code === 'missing_field') ? 'parameter_missing' : 'parameter_invalid'
    return new Problem(code, details[0].message, { param: details[0].param, details })
  }
}

export function throwFailures(failures: readonly Detail[]): void {
  const [first, ...others] = failures
  if (first !== undefined) throw Problem.invalid([first, ...others])
}

export function invalid(param: string, code: Detail['code'], message: string): Problem {
  return Problem.invalid([{ param, code, message }])
}

/** 404 for an object that the caller cannot see. */
export function missing(kind: string, id: string, param?: string): Problem {
  return new Problem(
    'resource_missing',
    `No ${kind} ${JSON.stringify(id.slice(0, 80))} exists in this account and mode. Check the id and the mode of the key.`,
    param === undefined ? {} : { param },
  )
}
