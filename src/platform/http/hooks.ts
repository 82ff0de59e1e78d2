/** A path for callbacks of other services. No API key: a signature over the raw body stands in for it, which `take` checks. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limits } from '../../api/limits.ts'
import type { BodyRoom } from './body-room.ts'
import { readBody } from './body.ts'

export interface HookCall {
  readonly method: string
  /** With its query, as it was called. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

export interface HookAnswer {
  readonly content_type: string
  readonly body: string
}

/**
 * Resolves to the answer once the payload is stored: only then is it acknowledged. `id` is that of the path; throws a Problem for what is not taken. Nobody has
 * shown a key: `readBody` is called once it is known that somebody waits for the body.
 */
export type TakeHook = (id: string, call: HookCall, readBody: () => Promise<Uint8Array>) => Promise<HookAnswer>

/** `path` ends in `:id`. */
export function mountHooks(server: FastifyInstance, path: string, room: BodyRoom, take: TakeHook): void {
  server.route({
    method: ['GET', 'POST'],
    url: path,
    handler: async (request, reply) => {
      const { id } = request.params as { id: string }
      const call = {
        method: request.method,
        path: request.raw.url ?? '',
        headers: flatHeaders(request),
        query: flatQuery(request),
      }
      const bodyOf = async () =>
        request.method === 'POST'
          ? await readBody(request.raw, limits.callback_body_bytes, room, `hook ${id}`)
          : new Uint8Array()
      const answer = await take(id, call, bodyOf)
      return reply.header('x-content-type-options', 'nosniff').type(answer.content_type).send(answer.body)
    },
  })
}

const flatHeaders = (request: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )

/** Of a parameter that is there several times the first counts. */
const flatQuery = (request: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.query as Record<string, string | string[]>).map(([name, value]) => [
      name,
      Array.isArray(value) ? (value[0] ?? '') : value,
    ]),
  )
