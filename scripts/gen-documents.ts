/** The generated documents that follow from the routes. */
import { openapiText } from '../src/openapi.ts'

/** Paths from the root of the checkout, with their texts. */
export async function generatedDocuments(): Promise<Record<string, string>> {
  return { 'openapi.json': openapiText() }
}
