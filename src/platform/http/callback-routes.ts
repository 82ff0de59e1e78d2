/** Mounts paths for callbacks of other services, which sign the raw body. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limits } from '../../api/limits.ts'
import { Body } from './body.ts'
import type { BodyBudget } from './body-budget.ts'

export interface HookCall {
  readonly method: string
  /** With its query string. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

export interface HookAnswer {
  readonly content_type: string
  readonly body: string
}

/** Resolves once the payload is stored. Check `id` before `readBody`: the caller is not authenticated. */
export type ReceiveHook = (id: string, call: HookCall, readBody: () => Promise<Uint8Array>) => Promise<HookAnswer>

const bounds = {
  bytes_max: limits.callback_body_bytes,
  members_max: limits.callback_body_members_max,
  names_max: limits.callback_body_names_max,
}

export function mountHooks(server: FastifyInstance, path: string, budget: BodyBudget, receive: ReceiveHook): void {
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
      const body = new Body(request.raw, bounds, budget)
      try {
        const answer = await receive(id, call, () =>
          request.method === 'POST' ? body.read(`hook ${id}`) : Promise.resolve(new Uint8Array()),
        )
        return reply.type(answer.content_type).send(answer.body)
      } finally {
        body.done()
      }
    },
  })
}

const flatHeaders = (request: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )

const flatQuery = (request: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.query as Record<string, string | string[]>).map(([name, value]) => [
      name,
      Array.isArray(value) ? (value[0] ?? '') : value,
    ]),
  )
