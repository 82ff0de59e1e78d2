/** `/llms.txt` (https://llmstxt.org): an overview of the documents and operations for language models. */
import { limits } from '../api/limits.ts'
import type { Route } from '../platform/http/route.ts'

/** `guides` is the Markdown of the index of guides. */
export function llmsText(routes: readonly Route[], guides: string, base_url: string): string {
  return [
    '# Posthorn',
    '',
    '> One REST API that sends messages over WhatsApp, SMS and more, bills them, and reports their status through signed webhooks.',
    '',
    `Every request carries \`Authorization: Bearer <API_KEY>\`; keys that begin with \`svc_test_\` deliver and bill nothing. Bodies are JSON. Errors are \`{"error": {"type", "code", "message", "param", "details", "request_id", "doc_url"}}\`: branch on \`code\`. A POST is safe to repeat with the same \`Idempotency-Key\` (up to ${limits.idempotency_key_length_max} characters, kept for 24 hours). Lists take \`limit\` (up to ${limits.page_max}) and \`starting_after\`.`,
    '',
    '## Reference',
    '',
    ...link(base_url, '/docs/openapi.json', 'OpenAPI 3.1', 'every operation, schema and example'),
    ...link(base_url, '/docs', 'Reference', 'the same, to read'),
    ...link(base_url, '/docs/errors', 'Error codes', 'what each means and what to do'),
    ...link(base_url, '/docs/content', 'Message content', 'every content type with an example'),
    ...link(base_url, '/docs/providers', 'Providers', 'what each needs to be connected'),
    ...link(base_url, '/docs/behaviour', 'Behaviour', 'what the service promises, by paragraph'),
    ...link(base_url, '/docs/postman.json', 'Postman collection', 'every operation as a request'),
    '',
    '## Guides',
    '',
    ...[...guides.matchAll(/\[([^\]]+)\]\(([a-z-]+)\.md\)/g)].flatMap(([, title, name]) =>
      link(base_url, `/docs/guides/${name}`, title!),
    ),
    '',
    '## Operations',
    '',
    ...routes.map(({ operation, method, path, summary }) => `- \`${operation}\`: ${method} ${path}: ${summary}`),
    '',
  ].join('\n')
}

const link = (base_url: string, path: string, title: string, about?: string): string[] => [
  `- [${title}](${base_url}${path})${about === undefined ? '' : `: ${about}`}`,
]
