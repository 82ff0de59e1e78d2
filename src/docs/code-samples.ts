/** Code samples of a request in curl, TypeScript and Python. */
import { camelCase } from './client-names.ts'
import type { Route } from '../platform/http/route.ts'
import { requestExample } from './openapi.ts'
import { escape } from './page.ts'
import { examplePath, type Site } from './site.ts'

export interface CodeSample {
  readonly language: 'curl' | 'typescript' | 'python'
  readonly text: string
}

const titles = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const

interface Sample {
  readonly site: Site
  readonly route: Route
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  /** The content type of an uploaded file. */
  readonly upload: string | undefined
}

/** Signed operations, which shops call, are only shown in curl. */
export function codeSamples(site: Site, route: Route): CodeSample[] {
  const upload = Object.keys(route.uploads ?? {})[0]
  const sample: Sample = {
    site,
    route,
    path: examplePath(site, route),
    query: new URLSearchParams(route.example_query),
    body: route.body === undefined || route.streamed === true ? undefined : requestExample(route),
    upload,
  }
  const curl = { language: 'curl', text: curlOf(sample) } as const
  if (route.signedHandler !== undefined) return [curl]
  return [curl, { language: 'typescript', text: typescriptOf(sample) }, { language: 'python', text: pythonOf(sample) }]
}

/** Tabs without a script: radio buttons. */
export const codeTabs = (samples: readonly CodeSample[]): string =>
  `<div class="tabs">${samples
    .map(
      ({ language, text }, index) =>
        `<input type="radio" name="language" id="in-${language}" value="${language}"${index === 0 ? ' checked' : ''}><label for="in-${language}">${titles[language]}</label><pre class="in-${language}"><code>${escape(text)}</code></pre>`,
    )
    .join('')}</div>`

const variableOf = ({ source_key }: Route): string => (source_key === true ? 'POSTHORN_SOURCE_KEY' : 'POSTHORN_API_KEY')

function curlOf({ site, route, path, query, body, upload }: Sample): string {
  const url = `${site.base_url}${path}`
  const lines = [
    `curl ${route.method === 'GET' || route.method === 'POST' ? '' : `-X ${route.method} `}${query.size === 0 ? url : `'${url}?${route.example_query!}'`}`,
    route.signedHandler === undefined
      ? `-H "Authorization: Bearer $${variableOf(route)}"`
      : `-H 'Service-Signature: t=…,v1=…'`,
  ]
  if (body !== undefined)
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d '${jsonOf(body).replaceAll("'", `'\\''`).replaceAll('\n', '\n  ')}'`,
    )
  else if (upload !== undefined)
    lines.push(
      `-H 'Content-Type: ${upload}'`,
      route.signedHandler === undefined ? '--data-binary @file.csv' : '--data-binary @event.json',
    )
  else if (route.method === 'POST') lines.push('-X POST')
  return lines.join(' \\\n  ')
}

/** On one line if short. */
const jsonOf = (value: unknown): string => {
  const line = JSON.stringify(value)
  return line.length <= 72 ? line : JSON.stringify(value, null, 2)
}

function typescriptOf({ site, route, path, query, body, upload }: Sample): string {
  const [resource, action] = route.operation.split('.') as [string, string]
  const ids = path
    .split('/')
    .filter((segment, index) => route.path.split('/')[index] !== segment || segment.startsWith('{'))
  const args = [
    ...ids.map((id) => literal(id, typescript)),
    ...(body === undefined ? [] : [literal(body, typescript)]),
    ...(upload === undefined ? [] : [`await readFile('file.csv')`]),
    ...(query.size === 0 ? [] : [literal(typed(query), typescript)]),
  ]
  const call = `posthorn.${camelCase(resource)}.${camelCase(action)}(${args.join(', ')})`
  const answers = Object.values(route.replies)[0] !== ''
  return [
    `import { Posthorn } from '@posthorn/client'`,
    `import { env } from 'node:process'`,
    ...(upload === undefined ? [] : [`import { readFile } from 'node:fs/promises'`]),
    '',
    `const posthorn = new Posthorn({ apiKey: env.${variableOf(route)}!, baseUrl: '${site.base_url}' })`,
    '',
    ...(isList(route)
      ? [`for await (const item of ${call}) {`, '  console.log(item)', '}']
      : answers
        ? [`const answer = await ${call}`, 'console.log(answer)']
        : [`await ${call}`]),
  ].join('\n')
}

/** Booleans and numbers become values. */
const typed = (query: URLSearchParams): Record<string, unknown> =>
  Object.fromEntries(
    [...query].map(([name, value]) => [name, /^(true|false|\d+)$/.test(value) ? JSON.parse(value) : value]),
  )

const isList = ({ query }: Route): boolean => query?.properties['starting_after'] !== undefined

function pythonOf({ site, route, path, query, body, upload }: Sample): string {
  const headers = [
    `"Authorization": f"Bearer {os.environ['${variableOf(route)}']}"`,
    ...(upload === undefined ? [] : [`"Content-Type": "${upload}"`]),
  ]
  const lines = [
    `"${site.base_url}${path}",`,
    ...(query.size === 0 ? [] : [`params=${literal(Object.fromEntries(query), python)},`]),
    `headers={${headers.join(', ')}},`,
    ...(body === undefined ? [] : [`json=${literal(body, python)},`]),
    ...(upload === undefined ? [] : [`data=open("file.csv", "rb"),`]),
    'timeout=30,',
  ]
  return [
    'import os',
    '',
    'import requests',
    '',
    `response = requests.${route.method.toLowerCase()}(`,
    ...lines.map((line) => line.replaceAll(/^/gm, '    ')),
    ')',
    'response.raise_for_status()',
    ...(Object.values(route.replies)[0] === ''
      ? []
      : [upload === undefined && route.csv !== undefined ? 'print(response.text)' : 'print(response.json())']),
  ].join('\n')
}

interface Notation {
  readonly indent: string
  readonly words: Readonly<Record<string, string>>
  readonly key: (name: string) => string
  readonly text: (value: string) => string
  readonly pad: string
}

const typescript: Notation = {
  indent: '  ',
  words: {},
  key: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`),
  text: (value) => (/['\\\n]/.test(value) ? JSON.stringify(value) : `'${value}'`),
  pad: ' ',
}
const python: Notation = {
  indent: '    ',
  words: { true: 'True', false: 'False', null: 'None' },
  key: (name) => JSON.stringify(name),
  text: (value) => JSON.stringify(value),
  pad: '',
}

/** On one line if short. */
function literal(value: unknown, notation: Notation): string {
  const { indent, words, key, text, pad } = notation
  if (typeof value === 'string') return text(value)
  if (typeof value !== 'object' || value === null) return words[String(value)] ?? String(value)
  const isArray = Array.isArray(value)
  const parts = isArray
    ? value.map((item) => literal(item, notation))
    : Object.entries(value).map(([name, item]) => `${key(name)}: ${literal(item, notation)}`)
  const [open, close] = isArray ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return open + close
  const line = parts.join(', ')
  if (line.length <= 60 && !line.includes('\n')) return isArray ? `[${line}]` : `{${pad}${line}${pad}}`
  return `${open}\n${parts.map((part) => `${part.replaceAll(/^/gm, indent)},`).join('\n')}\n${close}`
}
