/** Fetches the files of inbound MMS: Twilio asks for the credentials, then sends on to where the file lies. */
import type { Connection, MediaReference, ProviderTools } from '../provider.ts'
import { authorization } from './api.ts'

/** An answer that sends on is short; a file that is shorter still is taken as it is. */
const answerBytesMax = 64 * 1024

export async function fetchMedia(
  tools: ProviderTools,
  { url = '' }: MediaReference,
  connection: Connection,
  bytes_max: number,
  signal: AbortSignal,
) {
  // the credentials go to Twilio alone, whatever address a callback named
  const own = URL.parse(url)?.origin === new URL(tools.url).origin
  if (!own) return await tools.http.download({ method: 'GET', url, answer_bytes_max: bytes_max, signal })
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
