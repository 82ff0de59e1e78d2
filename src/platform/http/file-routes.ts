/** Serves files at signed URLs, which `open` checks, with single ranges. */
import type { FastifyInstance } from 'fastify'
import type { Readable } from 'node:stream'

export interface Range {
  readonly first: number
  readonly last: number
}

export interface ServedFile {
  readonly bytes: number
  readonly headers: Readonly<Record<string, string>>
  read(range: Range, signal: AbortSignal): Promise<Readable>
}

export type OpenFile = (id: string, query: Readonly<Record<string, unknown>>) => Promise<ServedFile>

export function mountFiles(server: FastifyInstance, path: string, open: OpenFile): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: path,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { id } = request.params as { id: string }
      const file = await open(id, request.query as Record<string, unknown>)
      const part = rangeOf(request.headers.range, file.bytes)
      const { first, last } = part ?? { first: 0, last: file.bytes - 1 }
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const stream =
        request.method === 'HEAD' || file.bytes === 0 ? undefined : await file.read({ first, last }, gone.signal)
      reply.headers({ ...file.headers, 'accept-ranges': 'bytes' })
      if (part !== undefined) reply.code(206).header('content-range', `bytes ${first}-${last}/${file.bytes}`)
      reply.header('content-length', String(last - first + 1))
      return stream === undefined ? reply.send() : reply.send(stream)
    },
  })
}

/** Undefined for headers that are ignored (RFC 9110 14.2). */
function rangeOf(header: string | undefined, bytes: number): Range | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  const first = from === '' ? Math.max(0, bytes - Number(to)) : Number(from)
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)
  return first <= last ? { first, last } : undefined
}
