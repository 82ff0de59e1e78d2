/** The errors that calls reject with: one class per family of HTTP statuses, and two for missing responses. */
import type { ErrorBody } from './generated/types.js'

/**
 * The service's error codes, and codes for failures without a response. Responses of gateways have `http_` and the
 * status.
 */
export type FailureCode = ErrorBody['code'] | 'connection_failed' | 'timeout'

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

/** The base class of all errors that calls reject with, except aborts, which reject with the reason of their signal. */
export class PosthornError extends Error {
  // a literal, because minifiers rename classes
  override name = 'PosthornError'
  /** Stable: branch on it, never on `message`. `https://<service>/docs/errors` explains each. */
  readonly code: FailureCode
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined
  /** The field of the request, such as `text.body`. */
  readonly param: string | undefined
  /** Every failed validation of the request. */
  readonly details: NonNullable<ErrorBody['details']>
  /** The page that explains the code; undefined if the response did not come from the service. */
  readonly docUrl: string | undefined
  /** Quote it when you contact the operator of the service. */
  readonly requestId: string | undefined
  /** How long the service asks to wait, for example with 429 and 503. */
  readonly retryAfterSeconds: number | undefined
  /** Of a POST: a call with this key in its options is performed once, however often it is repeated within 24 hours. */
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

/** 400, 413, 415, 422: the request is invalid and can never succeed. */
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
/** 409: the object's state does not allow the operation, or the idempotency key was used for another request. */
export class ConflictError extends PosthornError {
  override name = 'ConflictError'
}
/** 5xx, or a response that did not come from the service. */
export class ServerError extends PosthornError {
  override name = 'ServerError'
}
/** There was no response, or only part of one. The request may have been performed. */
export class ConnectionError extends PosthornError {
  override name = 'ConnectionError'
}
/** No complete response within `timeoutMs`. */
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

/** The error of a non-2xx response. `body` may be anything, because gateways have error formats of their own. */
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
