/** Requests to the Infobip API. */
import type { HttpAnswer } from '../../lib/http-client.ts'
import { isObject, parsedObject } from '../../lib/json.ts'
import type { Connection, ProviderTools } from '../provider.ts'

export async function callApi(
  tools: ProviderTools,
  { credentials }: Connection,
  path: string,
  signal: AbortSignal,
  body?: object,
): Promise<HttpAnswer> {
  const url = `${String(credentials['base_url']).replace(/\/$/, '')}${path}`
  const headers = { authorization: `App ${String(credentials['api_key'])}`, accept: 'application/json' }
  if (body === undefined) return await tools.http.call({ method: 'GET', url, headers, signal })
  return await tools.http.call({
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
}

export interface Status {
  readonly group: number
  readonly id: number
  readonly name: string
}

export function statusOf(value: unknown): Status | null {
  if (!isObject(value)) return null
  const { groupId, id, name } = value
  if (typeof groupId !== 'number' || typeof id !== 'number' || !Number.isInteger(groupId) || !Number.isInteger(id))
    return null
  return { group: groupId, id, name: typeof name === 'string' ? name.slice(0, 80) : '' }
}

/** In the older or the newer format; null if the answer is not Infobip's. */
export function errorCodeOf(answer: Extract<HttpAnswer, { kind: 'answer' }>): string | null {
  const fields = parsedObject(answer.body)
  const { errorCode, requestError } = fields ?? {}
  if (typeof errorCode === 'string' && errorCode !== '') return errorCode.slice(0, 80)
  const exception = isObject(requestError) ? requestError['serviceException'] : undefined
  const id = isObject(exception) ? exception['messageId'] : undefined
  return typeof id === 'string' && id !== '' ? id.slice(0, 80) : null
}
