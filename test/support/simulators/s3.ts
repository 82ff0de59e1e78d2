/** S3-compatible storage in memory that checks every Signature Version 4. */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { closing } from '../closing.ts'
import { patientServer } from '../patient-server.ts'
import { within } from '../waiting.ts'

export interface S3Simulator {
  readonly url: string
  readonly objects: Map<string, { readonly body: Buffer; readonly content_type: string }>
  readonly refused: string[]
  readonly failures: number[]
}

export const s3Keys = { region: 'eu-test-1', key_id: 'AKIATEST', secret: 'secret/with+signs==' }

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const keyed = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

export async function s3Simulator(t: TestContext, bucket = 'media-bucket'): Promise<S3Simulator> {
  const objects: S3Simulator['objects'] = new Map()
  const [refused, failures]: [string[], number[]] = [[], []]
  const server = patientServer((request, response) => {
    void (async () => {
      const body = await buffer(request)
      const failure = failures.shift()
      const wrong = wrongSignature(request, body)
      if (wrong !== undefined) refused.push(wrong)
      if (failure !== undefined || wrong !== undefined) return void response.writeHead(failure ?? 403).end()
      const key = (request.url ?? '').slice(bucket.length + 2)
      const stored = objects.get(key)
      if (request.method === 'PUT') objects.set(key, { body, content_type: request.headers['content-type'] ?? '' })
      if (request.method === 'DELETE') objects.delete(key)
      if (request.method !== 'GET') return void response.writeHead(request.method === 'PUT' ? 200 : 204).end()
      if (stored === undefined) return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const part = first === undefined ? stored.body : stored.body.subarray(Number(first), Number(last) + 1)
      response
        .writeHead(first === undefined ? 200 : 206, {
          'content-type': stored.content_type,
          'content-length': part.length,
        })
        .end(part)
    })().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await within('the storage to listen', once(server, 'listening'))
  closing(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${bucket}`, objects, refused, failures }
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function wrongSignature(request: IncomingMessage, body: Buffer): string | undefined {
  const { headers } = request
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/
  const [, key_id, day, region, names, signature] = form.exec(headers.authorization ?? '') ?? []
  if (key_id !== s3Keys.key_id || region !== s3Keys.region) return `no such key: ${headers.authorization}`
  const signed = names!.split(';')
  for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date'])
    if (!signed.includes(name)) return `${name} is not signed`
  if (headers['x-amz-content-sha256'] !== sha256(body)) return 'the body is another one'
  const time = String(headers['x-amz-date'])
  if (!/^\d{8}T\d{6}Z$/.test(time) || time.slice(0, 8) !== day) return `the time is ${time}`
  const [path, query = ''] = (request.url ?? '').split('?')
  const canonical = [
    request.method,
    path,
    query,
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const key = keyed(keyed(keyed(keyed(`AWS4${s3Keys.secret}`, day!), region), 's3'), 'aws4_request')
  const expected = createHmac('sha256', key)
    .update(['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n'))
    .digest('hex')
  return expected === signature ? undefined : 'the signature is wrong'
}
