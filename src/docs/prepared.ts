/** Serves documents that are built once: compressed, with an ETag and 304. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { onceEach } from '../lib/concurrency.ts'
import { pageHeaders } from './page.ts'

const encoders = { br: promisify(brotliCompress), gzip: promisify(gzip) }

type Encoding = keyof typeof encoders

export interface Prepared {
  readonly type: string
  /** Weak, because all encodings share it. */
  readonly etag: string
  readonly plain: Buffer
  readonly encoded: Readonly<Record<Encoding, Buffer>>
}

export const html = 'text/html; charset=utf-8'
export const json = 'application/json; charset=utf-8'

/** `type` is the content type. */
export async function prepared(type: string, text: string): Promise<Prepared> {
  const plain = Buffer.from(text)
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  const [br, gzip] = await Promise.all([
    encoders.br(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    }),
    encoders.gzip(plain, { level: 9 }),
  ])
  return { type, etag, plain, encoded: { br, gzip } }
}

/** Builds each document at its first request. */
export function preparedOnce(): (
  name: string,
  type: string,
  make: () => string | Promise<string>,
) => Promise<Prepared> {
  const made = onceEach<Prepared>()
  return (name, type, make) => made(name, async () => prepared(type, await make()))
}

export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, plain, encoded }: Prepared,
): FastifyReply {
  reply.headers(pageHeaders()).headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (encoding === undefined) return reply.type(type).send(plain)
  return reply.type(type).header('content-encoding', encoding).send(encoded[encoding])
}

/** RFC 9110, 13.1.2: compared weakly. */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag.slice(2))

/** Prefers Brotli; the weight 0 excludes an encoding (RFC 9110, 12.5.3). */
function encodingFor(header: string | undefined): Encoding | undefined {
  const wanted = new Map(
    (header ?? '').split(',').map((range) => {
      const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [name, weight === undefined || Number(weight.slice(2)) > 0]
    }),
  )
  return (['br', 'gzip'] as const).find((name) => wanted.get(name) ?? wanted.get('*') ?? false)
}
