/** The generated documents: the OpenAPI document, the Postman collection, llms.txt, the TypeScript client and the console's types from the routes, the pages of content types from their schemas, those of providers, settings and commands from what the program itself reads. */
import { contentPages } from '../src/api/content/reference.ts'
import { routeDocuments } from '../src/openapi.ts'
import { providerPages } from '../src/docs/provider-page.ts'
import { referenceTables } from './gen-reference-tables.ts'
import { clientFiles, type Document } from './gen-typescript-client.ts'
import { consoleFiles } from './gen-console.ts'

/** Paths from the root of the checkout, with their texts. */
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
