/** Mounts routes behind another authentication than an API key (behaviour: console 2). */
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Caller } from '../../api/caller.ts'
import { prepare, perform, type Pipeline, type PreparedRoute } from './pipeline.ts'
import type { RecorderOf } from './audit-hook.ts'
import type { Route } from './route.ts'
import { responses, routerPath } from './responses.ts'

export interface Entered {
  readonly caller: Caller
  readonly session: unknown
}

export interface Guard {
  readonly prefix: string
  readonly routes: readonly Route[]
  /** Rejects with a Problem; may set response headers. */
  enter(request: FastifyRequest, reply: FastifyReply, route: Route): Promise<Entered>
  readonly recorderOf?: RecorderOf
}

/** Guards have their own rate limits. */
export function mountGuard(server: FastifyInstance, pipeline: Pipeline, guard: Guard): void {
  for (const definition of guard.routes) {
    const route = { ...definition, path: `${guard.prefix}${definition.path}` }
    const prepared = prepare(route, 0, 0, guard.recorderOf?.(route))
    server.route({
      method: route.method,
      url: routerPath(route.path),
      onRequest: through(guard, prepared),
      handler: perform(pipeline, prepared),
      schema: { response: responses(route) },
    })
  }
}

const through =
  (guard: Guard, prepared: PreparedRoute) =>
  (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    request.prepared = prepared
    guard.enter(request, reply, prepared.route).then(({ caller, session }) => {
      request.caller = caller
      request.session = session
      done()
    }, done)
  }
