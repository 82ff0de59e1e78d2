/** A path for callbacks of other services. No API key: a signature over the raw body stands in for it, which `take` checks. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limits } from '../../contract/limits.ts'
import { readBody } from './body.ts'

export interface HookCall {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Resolves to the answer once the payload is stored: only then is it acknowledged. `id` is that of the path; throws a Problem for what is not taken. */
export type TakeHook = (id: string, call: HookCall) => Promise<string>

/** `path` ends in `:id`. */
export function mountHooks(server: FastifyInstance, path: string, take: TakeHook): void {
  server.route({
    method: ['GET', 'POST'],
    url: path,
    handler: async (request, reply) => {
      const body = request.method === 'POST' ? await readBody(request.raw, limits.callback_body_bytes) : new Uint8Array()
      const answer = await take((request.params as { id: string }).id, {
        method: request.method,
        headers: flatHeaders(request),
        query: request.query as Record<string, string>,
        body,
      })
      return reply.type('text/plain; charset=utf-8').send(answer)
    },
  })
}

const flatHeaders = (request: FastifyRequest): Record<string, string> =>
  Object.fromEntries(Object.entries(request.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))
