/** Collects all generated documents: OpenAPI, Postman, llms.txt, client and console types, reference pages. */
import { contentPages } from '../src/api/content/reference.ts'
import { routeDocuments } from '../src/openapi.ts'
import { providerPages } from '../src/docs/provider-page.ts'
import { referenceTables } from './gen-reference-tables.ts'
import { clientFiles, type Document } from './gen-typescript-client.ts'
import { consoleFiles } from './gen-console.ts'

/** By path from the repository root. */
export async function generatedDocuments(): Promise<Record<string, string>> {
  const documents = await routeDocuments()
  return {
    ...documents,
    ...clientFiles(JSON.parse(documents['openapi.json']!) as Document),
    ...consoleFiles(documents),
    ...contentPages(),
    ...providerPages(),
    ...referenceTables(),
  }
}
