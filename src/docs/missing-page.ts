/** The 404 page for browsers, with the search and a suggestion. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorBody } from '../api/resources/api-error.ts'
import { startLinks } from './navigation.ts'
import { escape, page, pageHeaders } from './page.ts'
import { html } from './prepared.ts'

/** For clients whose `Accept` names `text/html`; others get JSON. */
function asPage(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  if (reply.statusCode !== 404) return done(null, payload)
  reply.header('vary', 'accept')
  if (typeof payload !== 'string' || !/\btext\/html\b/i.test(request.headers.accept ?? '')) return done(null, payload)
  const { error } = JSON.parse(payload) as { error: ErrorBody }
  reply.headers(pageHeaders()).type(html)
  done(null, missingPage(error))
}

/** For every route that may find no page. */
export const pageOptions = { exposeHeadRoute: true, onSend: asPage } as const

function missingPage({ message, request_id }: ErrorBody): string {
  const text = escape(message).replace(/Did you mean (\/docs[\w./-]*\w)\?/, 'Did you mean <a href="$1">$1</a>?')
  const main = `<h1>There is no such page</h1><p>${text}</p>
<p>Search above, or go on with the <a href="/docs#operations">operations</a>, the <a href="/docs/guides">guides</a> or the <a href="/docs/errors">error codes</a>.</p>
<p class="soft">404 · <code>${escape(request_id)}</code></p>`
  return page('There is no such page · Posthorn', startLinks(), main)
}
