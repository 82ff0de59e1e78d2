/** The HTTP API, for commands that need only an API key. */
import { request } from 'undici'
import type { ErrorBody } from '../api/resources/api-error.ts'
import { OperatorError } from '../lib/operator-error.ts'

/** A key is never sent to another service. */
export interface Access {
  readonly base_url: string
  readonly key: string
}

export interface RequestOptions {
  /** Omits undefined. */
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Rejects with an OperatorError if the service refuses, fails or is unreachable. */
export interface ServiceApi {
  readonly access: Access
  get<T>(path: string, options?: RequestOptions): Promise<T>
  post<T>(path: string, options?: RequestOptions): Promise<T>
  delete(path: string): Promise<void>
}

/** The request may have been executed. */
export class NoAnswer extends OperatorError {}

const timeoutMs = 30_000
const neverSent: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

export function serviceApi(access: Access): ServiceApi {
  const call = async (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options: RequestOptions = {},
  ): Promise<unknown> => {
    const { status, text } = await exchange(access, method, path, options)
    const body = objectIn(text)
    if (status >= 200 && status < 300 && body !== undefined) return body
    const { error } = (body ?? {}) as { error?: ErrorBody }
    if (error === undefined)
      throw new OperatorError(`${access.base_url} (status ${status}) is not a Posthorn service. Check --base-url.`)
    throw new OperatorError(refusal(status, error))
  }
  return {
    access,
    get: async <T>(path: string, options?: RequestOptions) => (await call('GET', path, options)) as T,
    post: async <T>(path: string, options?: RequestOptions) => (await call('POST', path, options)) as T,
    delete: async (path) => void (await call('DELETE', path)),
  }
}

function refusal(status: number, { code, message, details, request_id }: ErrorBody): string {
  const others = (details?.length ?? 0) > 1 ? details!.map((detail) => `  ${detail.param}: ${detail.message}`) : []
  return [`${message} (${status} ${code}, request ${request_id})`, ...others].join('\n')
}

async function exchange(
  { base_url, key }: Access,
  method: string,
  path: string,
  options: RequestOptions,
): Promise<{ status: number; text: string }> {
  const query = Object.fromEntries(Object.entries(options.query ?? {}).filter(([, value]) => value !== undefined))
  try {
    const answer = await request(`${base_url}${path}`, {
      method: method as 'GET',
      query,
      headers: {
        authorization: `Bearer ${key}`,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    return { status: answer.statusCode, text: await answer.body.text() }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = message === '' ? String(code) : message
    if (code !== undefined && neverSent.includes(code))
      throw new OperatorError(
        `The service at ${base_url} cannot be reached: ${reason}. Check that it is running, and --base-url.`,
      )
    throw new NoAnswer(`The service at ${base_url} did not respond: ${reason}.`)
  }
}

function objectIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
