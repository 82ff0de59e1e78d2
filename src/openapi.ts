/** Generates `openapi.json` and the other documents derived from the routes (`npm run gen`). */
import { buildApp } from './app.ts'
import { readConfig } from './config/config.ts'
import { systemClock } from './lib/clock.ts'
import { openPool } from './platform/database/pool.ts'
import { derivedDocuments } from './docs/derived-documents.ts'
import { consoleDocument } from './docs/console-openapi.ts'
import { openapiDocument } from './docs/openapi.ts'
import type { Route } from './platform/http/route.ts'
import { makeLog } from './platform/observability/log.ts'
import { makeSecrets } from './platform/secrets/secrets.ts'

/** Opens no connection. */
export function everyRoute(): { readonly routes: readonly Route[]; readonly consoleRoutes: readonly Route[] } {
  const pool = openPool('postgres://nobody@127.0.0.1:1/none')
  const secrets = makeSecrets({ current: Buffer.alloc(32).toString('base64'), previous: [] }, Buffer.alloc(32))
  return buildApp({ pool, clock: systemClock(), settings: readConfig({}), secrets, log: makeLog('silent') })
}

const base_url = 'http://127.0.0.1:8080'

export const openapiText = (): string => `${JSON.stringify(openapiDocument(everyRoute().routes, base_url), null, 2)}\n`

/** By path from the repository root. */
export const routeDocuments = async (): Promise<Record<string, string>> => {
  const { routes, consoleRoutes } = everyRoute()
  return {
    'openapi.json': openapiText(),
    'console-openapi.json': `${JSON.stringify(consoleDocument(consoleRoutes, base_url), null, 2)}\n`,
    ...(await derivedDocuments(routes, base_url)),
  }
}
