/** Storage in an S3-compatible bucket (path-style addresses, AWS Signature Version 4). */
import { AwsV4Signer } from 'aws4fetch'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { MissingFile, type HttpClient } from '../../lib/http-client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { S3Settings } from '../../config/settings.ts'
import { FileMissing, type Storage } from './storage.ts'

const putTimeoutMs = 120_000
/** Long, for slow readers. */
const readTimeoutMs = 15 * 60_000
const emptyHash = createHash('sha256').digest('hex')

export function s3Storage(settings: S3Settings, http: HttpClient, clock: Clock): Storage {
  const urlOf = (id: string) => `${settings.url}/${id.slice(-2)}/${id}`
  const signed = (method: string, id: string, hash: string, headers?: SentHeaders) =>
    signedHeaders(settings, clock, { method, url: urlOf(id), hash, headers })
  return {
    name: 's3',
    bucket: settings.url,
    async store(id, path, bytes, content_type, signal) {
      const headers = await signed('PUT', id, await hashOf(path, signal), { 'content-type': content_type })
      const body = createReadStream(path)
      const answer = await http
        .call({
          method: 'PUT',
          url: urlOf(id),
          headers: { ...headers, 'content-length': String(bytes) },
          body,
          timeout_ms: putTimeoutMs,
          signal,
        })
        .finally(() => body.destroy())
      if (answer.kind !== 'answer') throw new Error(`The file could not be stored: ${answer.message}`)
      if (answer.status < 200 || answer.status > 299)
        throw new Error(`The storage answered ${answer.status} when a file was stored.`)
    },
    async read(id, { first, last }, signal) {
      const ended = new AbortController()
      const headers = { ...(await signed('GET', id, emptyHash)), range: `bytes=${first}-${last}` }
      const { chunks } = await http
        .download({
          method: 'GET',
          url: urlOf(id),
          headers,
          timeout_ms: readTimeoutMs,
          answer_bytes_max: last - first + 1,
          signal: AbortSignal.any([signal, ended.signal]),
        })
        .catch((error: unknown) => {
          throw error instanceof MissingFile ? new FileMissing(id) : error
        })
      return Readable.from(chunks, { objectMode: false, highWaterMark: 64 * 1024 }).on('close', () => ended.abort())
    },
    async remove(id) {
      const answer = await http.call({
        method: 'DELETE',
        url: urlOf(id),
        headers: await signed('DELETE', id, emptyHash),
      })
      if (answer.kind !== 'answer') throw new Error(`The file could not be removed: ${answer.message}`)
      if (answer.status > 299 && answer.status !== 404)
        throw new Error(`The storage answered ${answer.status} when a file was removed.`)
    },
    close: () => http.close(),
  }
}

type SentHeaders = Readonly<Record<string, string>>

/** `hash`: SHA-256 of the body in hex. */
async function signedHeaders(
  settings: S3Settings,
  clock: Clock,
  { method, url, hash, headers }: { method: string; url: string; hash: string; headers: SentHeaders | undefined },
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    method,
    url,
    headers: { ...headers, 'x-amz-content-sha256': hash },
    accessKeyId: settings.key_id,
    secretAccessKey: settings.secret,
    service: 's3',
    region: settings.region,
    datetime: new Date(clock.now()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  })
  const signed = (await signer.sign()).headers
  signed.delete('host')
  return Object.fromEntries(signed)
}

async function hashOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
