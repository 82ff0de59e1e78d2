/** Requests to Meta's Graph API. */
import type { Connection, ProviderTools } from '../provider.ts'
import { kindOfForeignAnswer, retryAfterOf } from '../outcomes.ts'
import { isObject, parsedObject, type Fields } from '../../lib/json.ts'

const apiVersion = 'v23.0'

export interface Credentials {
  readonly access_token: string
  readonly phone_number_id: string
  readonly business_account_id: string
  readonly app_secret: string
  readonly verify_token?: string
}

export const credentialsOf = ({ credentials }: Connection): Credentials => credentials as unknown as Credentials

export interface GraphError {
  readonly code: number
  readonly subcode: number | null
  readonly message: string
  readonly details: string | null
}

/** `unsent`: certainly never arrived. `unknown`: it may have been executed. */
export type GraphAnswer =
  | { readonly kind: 'ok'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'error'; readonly status: number; readonly error: GraphError; readonly retry_after_ms?: number }
  | { readonly kind: 'unsent' | 'unknown'; readonly message: string }

export interface GraphCall {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  readonly answer_bytes_max?: number
}

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
    message: `WhatsApp's API answered ${status} with something that does not come from it.`,
  }
}

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

export const segment = (text: string): string => encodeURIComponent(text)

export const objectAt = (value: Fields, key: string): Fields | undefined =>
  isObject(value[key]) ? value[key] : undefined

/** Ids come as texts or numbers. */
export function textAt(value: Fields, key: string): string | undefined {
  const text = value[key]
  return typeof text === 'string' ? text : typeof text === 'number' ? String(text) : undefined
}

export const idAt = (value: Fields, key: string): string | undefined => textAt(value, key) || undefined

export const objectsAt = (value: Fields, key: string): Fields[] =>
  Array.isArray(value[key]) ? (value[key] as unknown[]).filter(isObject) : []

export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      field === null || field === undefined ? [] : [[key, withoutNulls(field)]],
    ),
  )
}
