/** Fetches files that came in: Telegram is asked for a path, which lasts an hour, and then for the file. */
import type { Connection, MediaReference, ProviderTools } from '../provider.ts'
import { callApi, tokenOf } from './api.ts'
import { sayOf } from './codes.ts'
import { isObject } from '../../lib/json-fields.ts'
import { PermanentError } from '../../lib/permanent-error.ts'
import { textAt } from './json.ts'

export async function fetchMedia(
  tools: ProviderTools,
  reference: MediaReference,
  connection: Connection,
  bytes_max: number,
  signal: AbortSignal,
) {
  const answer = await callApi(tools, connection, 'getFile', { file_id: reference['file_id'] ?? '' }, signal)
  if (answer.kind === 'error')
    throw isLasting(answer)
      ? new PermanentError(`Telegram does not give the file: ${sayOf(answer).replace(/\.$/, '')}.`)
      : new Error(sayOf(answer))
  if (answer.kind !== 'ok') throw new Error(answer.message)
  const path = isObject(answer.result) ? textAt(answer.result, 'file_path') : null
  const steps = path?.split('/') ?? []
  if (steps.length === 0 || steps.some((step) => /^\.{0,2}$/.test(step)))
    throw new Error('Telegram names no path for the file.')
  const url = `${tools.url}/file/bot${tokenOf(connection)}/${steps.map(encodeURIComponent).join('/')}`
  const { content_type, chunks } = await tools.http.download({
    method: 'GET',
    url,
    answer_bytes_max: bytes_max,
    signal,
  })
  // its file server calls everything an octet stream
  return { content_type: reference['content_type'] ?? content_type, chunks }
}

/** A file that is too big for bots, or an id that Telegram does not take. It has one sentence for a wrong id and for a file that cannot be had for the moment: that may pass. */
const isLasting = ({ code, description }: { readonly code: number; readonly description: string }): boolean =>
  code === 400 && !/temporarily unavailable/i.test(description)
