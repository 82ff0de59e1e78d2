/** Calls of Meta's Graph API: one version of it, the token as bearer, and every answer as a value. */
import type { Connection, ProviderTools } from '../provider.ts'
import { kindOfForeignAnswer, retryAfterOf } from '../foreign-answer.ts'
import { isObject, parsedObject } from '../../lib/json-fields.ts'

const apiVersion = 'v23.0'

/** The credentials of a channel, by the provider's schema. */
export interface Credentials {
  readonly access_token: string
  readonly phone_number_id: string
  readonly business_account_id: string
  readonly app_secret: string
  readonly verify_token?: string
}

export const credentialsOf = ({ credentials }: Connection): Credentials => credentials as unknown as Credentials

/** What Graph says of a call that it did not carry out. */
export interface GraphError {
  readonly code: number
  readonly subcode: number | null
  readonly message: string
  /** More words than `message`, where it has them. */
  readonly details: string | null
}

/**
 * `ok`: done. `error`: not done, in Graph's own words. `unsent`: the call reached nobody. `unknown`: it may have been carried out, for no answer came, or one
 * that is not Graph's.
 */
export type GraphAnswer =
  | { readonly kind: 'ok'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'error'; readonly status: number; readonly error: GraphError; readonly retry_after_ms?: number }
  | { readonly kind: 'unsent' | 'unknown'; readonly message: string }

export interface GraphCall {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** From the version on, without a slash before it; each part is encoded already. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  readonly answer_bytes_max?: number
}

/** Calls Graph with the channel's token. Never rejects. */
export async function callGraph(
  { http, url }: ProviderTools,
  credentials: Credentials,
  call: GraphCall,
  signal: AbortSignal,
): Promise<GraphAnswer> {
  const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query).toString()}`
  const answer = await http.call({
    method: call.method,
    url: `${url}/${apiVersion}/${call.path}${query}`,
    headers: {
      authorization: `Bearer ${credentials.access_token}`,
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    ...(call.answer_bytes_max === undefined ? {} : { answer_bytes_max: call.answer_bytes_max }),
    signal,
  })
  if (answer.kind !== 'answer')
    return { kind: answer.kind, message: `WhatsApp's API gave no answer: ${answer.message}` }
  const { status } = answer
  const body = parsedObject(answer.body)
  const error = body === null ? null : graphErrorOf(body['error'])
  if (error !== null) return { kind: 'error', status, error, ...retryAfterOf(answer.headers) }
  if (status === 429)
    return {
      kind: 'error',
      status,
      error: { code: 429, subcode: null, message: 'Too many requests.', details: null },
      ...retryAfterOf(answer.headers),
    }
  if (body !== null && status >= 200 && status < 300) return { kind: 'ok', body }
  return {
    kind: kindOfForeignAnswer(status) === 'unavailable' ? 'unsent' : 'unknown',
    message: `WhatsApp's API answered ${status} with something that is not its own.`,
  }
}

/** An error object of Graph's, in answers and in callbacks; null where it is none. */
export function graphErrorOf(value: unknown): GraphError | null {
  if (!isObject(value)) return null
  const code = typeof value['code'] === 'string' ? Number(value['code']) : value['code']
  if (typeof code !== 'number' || !Number.isInteger(code)) return null
  const data = value['error_data']
  const details = isObject(data) && typeof data['details'] === 'string' ? data['details'] : null
  const message = [value['message'], value['title']].find((text): text is string => typeof text === 'string') ?? ''
  return {
    code,
    subcode: Number.isInteger(value['error_subcode']) ? (value['error_subcode'] as number) : null,
    message,
    details,
  }
}

/** A part of a path that a caller wrote. */
export const segment = (text: string): string => encodeURIComponent(text)
