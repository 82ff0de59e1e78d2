/** Downloads inbound files by the path of `getFile`, valid for an hour. */
import type { Connection, MediaReference, ProviderTools } from '../provider.ts'
import { callApi, tokenOf, textAt } from './api.ts'
import { sentenceOf } from './codes.ts'
import { isObject } from '../../lib/json.ts'
import { PermanentError } from '../../lib/http-client.ts'

export async function fetchMedia(
  tools: ProviderTools,
  reference: MediaReference,
  connection: Connection,
  bytes_max: number,
  signal: AbortSignal,
) {
  const answer = await callApi(tools, connection, 'getFile', { file_id: reference['file_id'] ?? '' }, signal)
  if (answer.kind === 'error')
    throw isPermanent(answer)
      ? new PermanentError(`Telegram does not give the file: ${sentenceOf(answer).replace(/\.$/, '')}.`)
      : new Error(sentenceOf(answer))
  if (answer.kind !== 'ok') throw new Error(answer.message)
  const path = isObject(answer.result) ? textAt(answer.result, 'file_path') : null
  const steps = path?.split('/') ?? []
  if (steps.length === 0 || steps.some((step) => /^\.{0,2}$/.test(step)))
    throw new Error('Telegram returned no path for the file.')
  const url = `${tools.url}/file/bot${tokenOf(connection)}/${steps.map(encodeURIComponent).join('/')}`
  const { content_type, chunks } = await tools.http.download({
    method: 'GET',
    url,
    answer_bytes_max: bytes_max,
    signal,
  })
  return { content_type: reference['content_type'] ?? content_type, chunks }
}

/** Telegram uses one text for a wrong id and a temporary failure, which is retried. */
const isPermanent = ({ code, description }: { readonly code: number; readonly description: string }): boolean =>
  code === 400 && !/temporarily unavailable/i.test(description)
