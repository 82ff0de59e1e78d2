/** Starts a reference server beside a service, on its database. */
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
 * What bare Fastify made on the machine of the design's prototypes (27,200 to 28,600 a second). What it did beside answering is not
 * told, so the quickest kind, `plain`, stands for it here: a rate that was wanted there is also shown in the measure of this machine.
 */
export const plainOfTheDesign = 27_700
