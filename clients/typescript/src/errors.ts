/** What a call rejects with: one class for each family of statuses, and two for answers that never came. */
import type { ErrorBody } from './generated/types.js'

/** The parts of a failure that every class has. */
export interface Failure {
  readonly message: string
  /** Stable: branch on it, never on `message`. */
  readonly code: string
  readonly status?: number | undefined
  readonly param?: string | undefined
  readonly details?: ErrorBody['details']
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** What every call rejects with, but for an abort: that rejects with the reason of its signal. */
export class PosthornError extends Error {
  /** Stable: branch on it, never on `message`. `https://<service>/docs/errors` explains each. */
  readonly code: string
  /** The HTTP status; undefined where no answer came. */
  readonly status: number | undefined
  /** The field of the request, such as `text.body`. */
  readonly param: string | undefined
  /** Every failure of a validation round. */
  readonly details: NonNullable<ErrorBody['details']>
  /** For questions to whoever runs the service. */
  readonly requestId: string | undefined

  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause })
    this.name = new.target.name
    this.code = failure.code
    this.status = failure.status
    this.param = failure.param
    this.details = failure.details ?? []
    this.requestId = failure.requestId
  }
}

/** 400, 413, 415, 422: the request can never succeed as it is. */
export class InvalidRequestError extends PosthornError {}
/** 401: the key is missing, wrong, revoked or expired. */
export class AuthenticationError extends PosthornError {}
/** 402: wallet and packages do not cover it. */
export class PaymentRequiredError extends PosthornError {}
/** 403: the key lacks a scope, or its address is not allowed. */
export class PermissionError extends PosthornError {}
/** 404: there is no such object in the account and mode of the key. */
export class NotFoundError extends PosthornError {}
/** 409: the object's state does not allow it, or an idempotency key was used for something else. */
export class ConflictError extends PosthornError {}
/** 5xx, or an answer that is none of the service's. */
export class ServerError extends PosthornError {}
/** No answer came, or half of one. Whether the request was carried out is unknown. */
export class ConnectionError extends PosthornError {}
/** No whole answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {}

/** 429: too many requests. */
export class RateLimitError extends PosthornError {
  /** How long the service asks to wait. */
  readonly retryAfterSeconds: number | undefined

  constructor(failure: Failure) {
    super(failure)
    this.retryAfterSeconds = failure.retryAfterSeconds
  }
}

const classes: Readonly<Record<number, typeof PosthornError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: RateLimitError,
}

/** The error of an answer that is no 2xx. `body` is whatever it held. */
export function errorOf(status: number, body: unknown, headers: Headers, retryAfterMs: number | undefined): PosthornError {
  const told = (body as { error?: Partial<ErrorBody> } | null | undefined)?.error ?? {}
  const Class = classes[status] ?? (status >= 400 && status < 500 ? InvalidRequestError : ServerError)
  return new Class({
    message: told.message ?? `The answer was ${status} without an error of the service: is this its address?`,
    code: told.code ?? `http_${status}`,
    status,
    param: told.param,
    details: told.details,
    requestId: told.request_id ?? headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterMs === undefined ? undefined : retryAfterMs / 1000,
  })
}
