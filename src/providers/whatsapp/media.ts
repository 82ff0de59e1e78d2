/** Downloads inbound files from an address that is valid for minutes. */
import type { ProviderAdapter, Connection, MediaReference, ProviderTools } from '../provider.ts'
import { PermanentError } from '../../lib/http-client.ts'
import { callGraph, credentialsOf, segment, textAt } from './api.ts'

const fileTimeoutMs = 120_000
/** Not token errors: the token may be replaced in time. */
const permanentCodes: readonly number[] = [100, 131052]

export async function fetchMedia(
  tools: ProviderTools,
  reference: MediaReference,
  connection: Connection,
  bytes_max: number,
  signal: AbortSignal,
): ReturnType<NonNullable<ProviderAdapter['fetchMedia']>> {
  const credentials = credentialsOf(connection)
  const answer = await callGraph(tools, credentials, { method: 'GET', path: segment(reference['id'] ?? '') }, signal)
  if (answer.kind === 'error') {
    const message = `WhatsApp does not give the file: ${answer.error.message.replace(/\.$/, '')}.`
    throw permanentCodes.includes(answer.error.code) ? new PermanentError(message) : new Error(message)
  }
  if (answer.kind !== 'ok') throw new Error(answer.message)
  const url = textAt(answer.body, 'url')
  if (url === undefined || !URL.canParse(url)) throw new Error('WhatsApp returned no address for the file.')
  if (Number(answer.body['file_size']) > bytes_max)
    throw new PermanentError(`The file is longer than ${bytes_max} bytes.`)
  const headers = { authorization: `Bearer ${credentials.access_token}` }
  const file = await tools.http.download({
    method: 'GET',
    url,
    headers,
    timeout_ms: fileTimeoutMs,
    answer_bytes_max: bytes_max,
    signal,
  })
  return { ...file, content_type: textAt(answer.body, 'mime_type') ?? file.content_type }
}
