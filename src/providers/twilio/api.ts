/** Requests to the Twilio API, and downloads. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import { parsedObject, type Fields } from '../../lib/json.ts'
import type { Connection, Outcome, ProviderTools, MediaReference } from '../provider.ts'
import { outcomeOfForeignAnswer, retryAfterOf, outcomeOfNoAnswer } from '../outcomes.ts'
import { refusal } from './codes.ts'

export interface Credentials {
  readonly account_sid: string
  readonly auth_token: string
  readonly messaging_service_sid?: string
}

export const credentialsOf = ({ credentials }: Connection): Credentials => credentials as unknown as Credentials

export const authorization = (connection: Connection): string => {
  const { account_sid, auth_token } = credentialsOf(connection)
  return `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`
}

/** Relative to the account: `/…` or `.json`. */
export async function callApi(
  tools: ProviderTools,
  connection: Connection,
  path: string,
  signal: AbortSignal,
  form?: URLSearchParams,
): Promise<HttpAnswer> {
  const headers = { authorization: authorization(connection), accept: 'application/json' }
  const url = `${tools.url}/2010-04-01/Accounts/${credentialsOf(connection).account_sid}${path}`
  if (form === undefined) return await tools.http.call({ method: 'GET', url, headers, signal })
  return await tools.http.call({
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    signal,
  })
}

export const fieldsOf = (answer: HttpAnswer): Fields | null =>
  answer.kind === 'answer' ? parsedObject(answer.body) : null

/** Any plausible form: a valid id not recognized would cause a second send. */
export const isSid = (value: unknown): value is string => typeof value === 'string' && /^[0-9A-Za-z]{2,64}$/.test(value)

/** Only 503 proves that nothing was sent; other server errors need a status query. */
export function outcomeOf(answer: HttpAnswer): Outcome {
  if (answer.kind !== 'answer') return outcomeOfNoAnswer('Twilio', answer)
  const { status, headers } = answer
  const { code, message: text } = fieldsOf(answer) ?? {}
  if (!isCode(code)) return outcomeOfForeignAnswer('Twilio', answer)
  if (status === 503) return { kind: 'unavailable', provider_code: String(code), message: 'Twilio is not available.' }
  if (status < 400 || status === 408 || status >= 500)
    return {
      kind: 'unknown',
      message: `Twilio answered ${status} without a message id, and may have accepted the message.`,
    }
  return refusal(String(code), typeof text === 'string' ? text : '', retryAfterOf(headers).retry_after_ms)
}

const isCode = (code: unknown): code is number | string =>
  (typeof code === 'number' || typeof code === 'string') && /^\d{1,6}$/.test(String(code))

const answerBytesMax = 64 * 1024

/** Twilio checks the credentials, then redirects to the file. */
export async function fetchMedia(
  tools: ProviderTools,
  { url = '' }: MediaReference,
  connection: Connection,
  bytes_max: number,
  signal: AbortSignal,
) {
  // only Twilio gets the credentials, whatever the callback named
  const isTwilio = URL.parse(url)?.origin === new URL(tools.url).origin
  if (!isTwilio) return await tools.http.download({ method: 'GET', url, answer_bytes_max: bytes_max, signal })
  const headers = { authorization: authorization(connection) }
  const answer = await tools.http.call({
    method: 'GET',
    url,
    headers,
    answer_bytes_max: Math.min(answerBytesMax, bytes_max),
    signal,
  })
  const location =
    answer.kind === 'answer' && answer.status >= 300 && answer.status < 400 ? answer.headers['location'] : undefined
  if (location !== undefined)
    return await tools.http.download({
      method: 'GET',
      url: new URL(location, url).href,
      answer_bytes_max: bytes_max,
      signal,
    })
  return await tools.http.download({ method: 'GET', url, headers, answer_bytes_max: bytes_max, signal })
}
