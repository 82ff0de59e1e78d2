/** The Postman collection and `/llms.txt`, derived from the routes; served, and written by `npm run gen`. */
import type { FastifyInstance } from 'fastify'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Route } from '../platform/http/route.ts'
import { llmsText } from './llms.ts'
import { postmanCollection } from './postman.ts'
import { json, preparedOnce, sendPrepared } from './prepared.ts'

interface DerivedDocument {
  readonly path: string
  readonly type: string
  readonly make: (routes: readonly Route[], base_url: string) => Promise<string>
}

const documents: readonly DerivedDocument[] = [
  {
    path: '/docs/postman.json',
    type: json,
    make: async (routes, base_url) => `${JSON.stringify(postmanCollection(routes, base_url), null, 2)}\n`,
  },
  {
    path: '/llms.txt',
    type: 'text/plain; charset=utf-8',
    make: async (routes, base_url) =>
      llmsText(routes, await readFile(join(import.meta.dirname, '../../docs/guides/README.md'), 'utf8'), base_url),
  },
]

/** By path from the repository root. */
export async function derivedDocuments(routes: readonly Route[], base_url: string): Promise<Record<string, string>> {
  return Object.fromEntries(
    await Promise.all(
      documents.map(async ({ path, make }) => [`docs/${path.split('/').at(-1)!}`, await make(routes, base_url)]),
    ),
  )
}

/** Built at the first request. */
export function mountDerived(server: FastifyInstance, routes: readonly Route[], base_url: string): void {
  const made = preparedOnce()
  for (const { path, type, make } of documents)
    server.get(path, { exposeHeadRoute: true }, async (request, reply) =>
      sendPrepared(request, reply, await made(path, type, () => make(routes, base_url))),
    )
}
