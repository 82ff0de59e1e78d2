/** The form that sends an operation's request from its page with a test key. */
import type { Route } from '../platform/http/route.ts'
import { requestExample } from './openapi.ts'
import { escape } from './page.ts'

/** Empty for signed operations and those of live mode. */
export function tryIt(route: Route): string {
  if (route.signedHandler !== undefined || route.mode === 'live') return ''
  const [kind, prefix] = route.source_key === true ? ['source', 'svc_src_'] : ['test', 'svc_test_']
  const upload = Object.entries(route.uploads ?? {})[0]
  const exampleQuery = new URLSearchParams(route.example_query)
  const fields = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => field(name!, 'path', '')),
    ...Object.keys(route.query?.properties ?? {}).map((name) => field(name, 'query', exampleQuery.get(name) ?? '')),
  ]
  const [type, body] =
    upload !== undefined
      ? [upload[0], upload[1].example ?? '']
      : route.body !== undefined && route.streamed !== true
        ? ['application/json', JSON.stringify(requestExample(route), null, 2)]
        : ['', undefined]
  return `<details class="try" hidden><summary>Try it</summary><form id="try" autocomplete="off" data-method="${route.method}" data-path="${escape(route.path)}" data-type="${type}" data-prefix="${prefix}">
<label>Key, which begins with <code>${prefix}</code>; it stays in this tab<input type="password" id="try-key" autocomplete="off" spellcheck="false" placeholder="${prefix}…"></label>
${fields.join('\n')}
${body === undefined ? '' : `<label>Body<textarea id="try-body" spellcheck="false" rows="${Math.min(body.split('\n').length + 1, 16)}">${escape(body)}</textarea></label>`}
<p role="alert" hidden></p>
<div class="buttons"><button class="main">Send with the ${kind} key</button><button type="button" id="try-forget">Forget the key</button></div>
<div id="try-answer" aria-live="polite" hidden><h4></h4><pre><code></code></pre></div>
</form></details>`
}

const field = (name: string, kind: 'path' | 'query', value: string): string =>
  `<label>${escape(name)}<input data-${kind}="${escape(name)}" value="${escape(value)}"${kind === 'path' ? ' required' : ''} spellcheck="false"></label>`
