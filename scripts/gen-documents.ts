/** The generated documents: the OpenAPI document, the Postman collection and llms.txt from the routes, the pages of content types from their schemas, that of providers from their descriptions. */
import { contentPages } from '../src/contract/content/reference.ts'
import { routeDocuments } from '../src/openapi.ts'
import { providerPages } from '../src/reference/provider-page.ts'

/** Paths from the root of the checkout, with their texts. */
export async function generatedDocuments(): Promise<Record<string, string>> {
  return { ...(await routeDocuments()), ...contentPages(), ...providerPages() }
}
