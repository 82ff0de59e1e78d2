/** Requests to the Telegram Bot API. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import { isObject, parsedObject, type Fields } from '../../lib/json.ts'
import type { Connection, ProviderTools } from '../provider.ts'
import { kindOfForeignAnswer, retryAfterOf } from '../outcomes.ts'

/** `unsent`: certainly never arrived. `unknown`: it may have. */
export type ApiAnswer =
  | { readonly kind: 'ok'; readonly result: unknown }
  | {
      readonly kind: 'error'
      readonly code: number
      readonly description: string
      readonly retry_after_ms: number | undefined
    }
  | { readonly kind: 'unsent' | 'unknown'; readonly code: string; readonly message: string }

export interface CallOptions {
  readonly timeout_ms?: number
  readonly answer_bytes_max?: number
  readonly long_poll?: boolean
}

const retryAfterMaxMs = 3_600_000

export const tokenOf = ({ credentials }: Connection): string =>
  typeof credentials['bot_token'] === 'string' ? credentials['bot_token'] : ''

export async function callApi(
  { http, url }: ProviderTools,
  connection: Connection,
  method: string,
  parameters: Fields,
  signal: AbortSignal,
  options: CallOptions = {},
): Promise<ApiAnswer> {
  const answer = await http.call({
    method: 'POST',
    url: `${url}/bot${tokenOf(connection)}/${method}`,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(parameters),
    signal,
    ...options,
  })
  return read(answer)
}

function read(answer: HttpAnswer): ApiAnswer {
  if (answer.kind !== 'answer') return { kind: answer.kind, code: answer.code, message: answer.message }
  const { status } = answer
  const fields = parsedObject(answer.body)
  if (status >= 200 && status < 300 && fields?.['ok'] === true && 'result' in fields)
    return { kind: 'ok', result: fields['result'] }
  const code =
    fields?.['ok'] === false && Number.isInteger(fields['error_code']) ? (fields['error_code'] as number) : undefined
  if (code === undefined) return foreign(answer)
  // only 503 proves that nothing was done
  if (code < 400 || code === 408 || (code >= 500 && code !== 503))
    return { kind: 'unknown', code: String(code), message: `The answer was ${code} without a result.` }
  const description = fields?.['description']
  return {
    kind: 'error',
    code,
    description: typeof description === 'string' ? description : '',
    retry_after_ms: retryAfterMs(fields),
  }
}

function foreign({ status, headers }: Pick<Extract<HttpAnswer, { kind: 'answer' }>, 'status' | 'headers'>): ApiAnswer {
  const kind = kindOfForeignAnswer(status)
  if (kind === 'throttled')
    return { kind: 'error', code: status, description: '', retry_after_ms: retryAfterOf(headers).retry_after_ms }
  const message = `The answer ${status} does not come from Telegram.`
  return { kind: kind === 'unavailable' ? 'unsent' : 'unknown', code: String(status), message }
}

function retryAfterMs(fields: Fields | null): number | undefined {
  const parameters = fields?.['parameters']
  const seconds = isObject(parameters) ? parameters['retry_after'] : undefined
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1000, retryAfterMaxMs) : undefined
}

export const objectAt = (fields: Fields, name: string): Fields | null => (isObject(fields[name]) ? fields[name] : null)

export const textAt = (fields: Fields, name: string): string | null =>
  typeof fields[name] === 'string' && fields[name] !== '' ? fields[name] : null

export const integerAt = (fields: Fields, name: string): number | null =>
  Number.isSafeInteger(fields[name]) ? (fields[name] as number) : null
