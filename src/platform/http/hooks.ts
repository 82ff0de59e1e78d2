/** `/hooks/channels/{id}`: the door for providers' callbacks. No API key; the provider's signature over the raw body stands in for it. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limits } from '../../contract/limits.ts'
import { Problem } from '../../contract/problem.ts'
import { readBody } from './body.ts'

export interface HookCall {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** `take` resolves once the payload is stored: only then is it acknowledged. */
export type TakeHook = (channel_id: string, call: HookCall) => Promise<{ kind: 'stored'; answer: string } | { kind: 'unknown' } | { kind: 'refused' }>

export function mountHooks(server: FastifyInstance, take: TakeHook): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/hooks/channels/:id',
    handler: async (request, reply) => {
      const body = request.method === 'POST' ? await readBody(request.raw, limits.body_bytes) : new Uint8Array()
      const outcome = await take((request.params as { id: string }).id, {
        method: request.method,
        headers: flatHeaders(request),
        query: request.query as Record<string, string>,
        body,
      })
      if (outcome.kind === 'unknown')
        throw new Problem('resource_missing', 'No channel takes callbacks at this address. Copy `webhook_url` of the channel again.')
      if (outcome.kind === 'refused')
        throw new Problem('webhook_signature_invalid', "The callback's signature does not fit the channel's credentials. Check the secret on both sides.")
      return reply.type('text/plain; charset=utf-8').send(outcome.answer)
    },
  })
}

const flatHeaders = (request: FastifyRequest): Record<string, string> =>
  Object.fromEntries(Object.entries(request.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))
