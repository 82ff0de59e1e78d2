/** Calls of the Twilio API, and its answers as values. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import { parsedObject, type Fields } from '../../lib/json-fields.ts'
import type { Connection, Outcome, ProviderTools } from '../provider.ts'
import { outcomeOfForeignAnswer, retryAfterOf } from '../foreign-answer.ts'
import { outcomeOfNoAnswer } from '../no-answer.ts'
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

/** `path` stands below that of the account, and begins with `/` or `.json`. With a `form` it is a POST. */
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

/** The object in the body of an answer; null where there is none. */
export const fieldsOf = (answer: HttpAnswer): Fields | null =>
  answer.kind === 'answer' ? parsedObject(answer.body) : null

/** Whatever form Twilio gives them: to take an id for none would be to send the message again. */
export const isSid = (value: unknown): value is string => typeof value === 'string' && /^[0-9A-Za-z]{2,64}$/.test(value)

/** What an answer without success means for a hand-over. Of its own errors only 503 says that nothing was done; after the others Twilio can be asked. */
export function outcomeOf(answer: HttpAnswer): Outcome {
  if (answer.kind !== 'answer') return outcomeOfNoAnswer('Twilio', answer)
  const { status, headers } = answer
  const { code, message: said } = fieldsOf(answer) ?? {}
  if (!isCode(code)) return outcomeOfForeignAnswer('Twilio', answer)
  if (status === 503) return { kind: 'unavailable', provider_code: String(code), message: 'Twilio is not available.' }
  if (status < 400 || status === 408 || status >= 500)
    return { kind: 'unknown', message: `Twilio answered ${status} without naming a message, and may have taken it.` }
  return refusal(String(code), typeof said === 'string' ? said : '', retryAfterOf(headers).retry_after_ms)
}

const isCode = (code: unknown): code is number | string =>
  (typeof code === 'number' || typeof code === 'string') && /^\d{1,6}$/.test(String(code))
