/** What a call rejects with: one class for each family of statuses, and two for answers that never came. */
import type { ErrorBody } from './generated/types.js'

/** Codes of the service, and of what never reached it; a gateway's answer has `http_` and its status. */
export type FailureCode = ErrorBody['code'] | 'connection_failed' | 'timeout'

/** The parts of a failure that every class has. */
export interface Failure {
  readonly message: string
  /** Stable: branch on it, never on `message`. */
  readonly code: FailureCode
  readonly status?: number | undefined
  readonly param?: string | undefined
  readonly details?: ErrorBody['details']
  readonly docUrl?: string | undefined
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly cause?: unknown
}

/** What every call rejects with, but for an abort: that rejects with the reason of its signal. */
export class PosthornError extends Error {
  // a literal, in every class: what makes programs smaller renames the classes
  override name = 'PosthornError'
  /** Stable: branch on it, never on `message`. `https://<service>/docs/errors` explains each. */
  readonly code: FailureCode
  /** The HTTP status; undefined where no answer came. */
  readonly status: number | undefined
  /** The field of the request, such as `text.body`. */
  readonly param: string | undefined
  /** Every failure of a validation round. */
  readonly details: NonNullable<ErrorBody['details']>
  /** The page that explains the code; undefined where the service did not answer itself. */
  readonly docUrl: string | undefined
  /** For questions to whoever runs the service. */
  readonly requestId: string | undefined
  /** How long the service asks to wait, as beside 429 and 503. */
  readonly retryAfterSeconds: number | undefined
  /** Of a POST: the same call with it in the options is carried out once, however often it is made within 24 hours. */
  readonly idempotencyKey: string | undefined

  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause })
    this.code = failure.code
    this.status = failure.status
    this.param = failure.param
    this.details = failure.details ?? []
    this.docUrl = failure.docUrl
    this.requestId = failure.requestId
    this.retryAfterSeconds = failure.retryAfterSeconds
    this.idempotencyKey = failure.idempotencyKey
  }
}

/** 400, 413, 415, 422: the request can never succeed as it is. */
export class InvalidRequestError extends PosthornError {
  override name = 'InvalidRequestError'
}
/** 401: the key is missing, wrong, revoked or expired. */
export class AuthenticationError extends PosthornError {
  override name = 'AuthenticationError'
}
/** 402: wallet and packages do not cover it. */
export class PaymentRequiredError extends PosthornError {
  override name = 'PaymentRequiredError'
}
/** 403: the key lacks a scope, or its address is not allowed. */
export class PermissionError extends PosthornError {
  override name = 'PermissionError'
}
/** 404: there is no such object in the account and mode of the key. */
export class NotFoundError extends PosthornError {
  override name = 'NotFoundError'
}
/** 409: the object's state does not allow it, or an idempotency key was used for something else. */
export class ConflictError extends PosthornError {
  override name = 'ConflictError'
}
/** 5xx, or an answer that is none of the service's. */
export class ServerError extends PosthornError {
  override name = 'ServerError'
}
/** No answer came, or half of one. Whether the request was carried out is unknown. */
export class ConnectionError extends PosthornError {
  override name = 'ConnectionError'
}
/** No whole answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
}

/** 429: too many requests. */
export class RateLimitError extends PosthornError {
  override name = 'RateLimitError'
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

/** The error of an answer that is no 2xx. `body` is whatever it held: gateways write errors of their own shapes. */
export function errorOf(
  status: number,
  body: unknown,
  headers: Headers,
  {
    retryAfterMs,
    idempotencyKey,
  }: { readonly retryAfterMs?: number | undefined; readonly idempotencyKey?: string | undefined },
): PosthornError {
  const { error } = (body ?? {}) as { error?: unknown }
  const told = (typeof error === 'object' && error !== null ? error : {}) as Readonly<Record<string, unknown>>
  const Class = classes[status] ?? (status >= 400 && status < 500 ? InvalidRequestError : ServerError)
  return new Class({
    message:
      textOf(told['message']) ?? `The answer was ${status} without an error of the service: is this its address?`,
    code: (textOf(told['code']) as FailureCode | undefined) ?? `http_${status}`,
    status,
    param: textOf(told['param']),
    details: Array.isArray(told['details'])
      ? told['details'].filter((each) => typeof each === 'object' && each !== null)
      : [],
    docUrl: textOf(told['doc_url']),
    requestId: textOf(told['request_id']) ?? headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterMs === undefined ? undefined : retryAfterMs / 1000,
    idempotencyKey,
  })
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
