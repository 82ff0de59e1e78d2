/** Starts a reference server beside a service, on its database. */
import { join } from 'node:path'
import { endProcess, startProcess, type Running, type Service } from '../service.ts'

export type ReferenceKind = 'bare' | 'transaction' | 'statement'

export async function startReference(kind: ReferenceKind, service: Service): Promise<Running> {
  const { child, line } = await startProcess([join(import.meta.dirname, 'server.ts'), kind], { ...service.env, DATABASE_URL: service.database_url })
  return { pid: child.pid!, port: line['port'] as number, stop: () => endProcess(child) }
}
