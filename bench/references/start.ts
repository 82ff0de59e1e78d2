import { join } from 'node:path'
import { runningOf, startFile, type Running, type Service } from '../service.ts'

export type ReferenceKind = 'plain' | 'bare' | 'transaction' | 'statement'

export async function startReference(kind: ReferenceKind, service: Service): Promise<Running> {
  const { child, line } = await startFile(join(import.meta.dirname, 'server.ts'), [kind], {
    ...service.env,
    DATABASE_URL: service.database_url,
  })
  return runningOf(child, line['port'] as number)
}

/**
 * Answers per second of bare Fastify on the machine of the design's prototypes; scales rates wanted there to this
 * machine.
 */
export const plainOfTheDesign = 27_700
