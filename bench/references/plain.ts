/** Fastify that only answers: the scale of the machine. */
import Fastify, { type FastifyInstance } from 'fastify'

export function plainServer(): FastifyInstance {
  const server: FastifyInstance = Fastify({ logger: false })
  server.post('/v1/messages', async (request, reply) =>
    reply.code(202).send({ object: 'message', to: (request.body as { to: string }).to }),
  )
  return server
}
