/** Another way to routes than with a key: the guard finds out who calls, everything after that is the pipeline's (behaviour: console 2). */
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Caller } from '../../api/caller.ts'
import { prepare, perform, type Pipeline, type PreparedRoute } from './pipeline.ts'
import type { RecorderOf } from './recording.ts'
import type { Route } from './route.ts'
import { responses, routerPath } from './responses.ts'

/** Who was let in. */
export interface Entered {
  readonly caller: Caller
  /** What the guard knows beyond that: handlers of its own routes read it as `session` of their request. */
  readonly session: unknown
}

export interface Guard {
  /** What comes before the path of each route. */
  readonly prefix: string
  readonly routes: readonly Route[]
  /** The first of the checks, up to and with whether the caller may do this. Rejects with a Problem; may set headers of the reply. */
  enter(request: FastifyRequest, reply: FastifyReply, route: Route): Promise<Entered>
  /** What is kept of changes that come through it. */
  readonly recorderOf?: RecorderOf
}

/** Mounts the routes once more, behind the guard. Buckets of rate limits are the guard's. */
export function mountGuard(server: FastifyInstance, pipeline: Pipeline, guard: Guard): void {
  for (const given of guard.routes) {
    const route = { ...given, path: `${guard.prefix}${given.path}` }
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
