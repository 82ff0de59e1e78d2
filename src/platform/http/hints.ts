/**
 * Suggestions in errors: the path, method or field that the client probably meant (behaviour: conventions 1.3, 4.4).
 */
import type { FastifyRequest } from 'fastify'
import { idPrefixes } from '../../api/ids.ts'
import { Problem } from '../../api/problem.ts'
import { cut } from '../../api/refusal-size.ts'
import { nearest } from '../../lib/text.ts'
import type { Route } from './route.ts'

const wordLengthMax = 64
const stepsMax = 12
const fieldsNamedMax = 10
export const paramLengthMax = 300

interface KnownPath {
  readonly steps: readonly string[]
  readonly methods: Set<string>
}

interface OtherPath {
  readonly steps: readonly string[]
  readonly method: string
  readonly path: string
}

export type RefuseUnknown = (request: Pick<FastifyRequest, 'method' | 'url'>) => Problem

export type HasPage = (path: string) => boolean

export interface KnownPage {
  readonly path: string
  readonly method: string
  /** For a path that ends in `*`. */
  readonly has_page?: HasPage | undefined
}

/** A known path with another method lists the allowed methods. `pages` may grow later. */
export function unknownRoutes(routes: readonly Route[], pages: readonly KnownPage[] = []): RefuseUnknown {
  const known = new Map<string, KnownPath>()
  for (const { path, method } of routes) {
    const entry = known.get(path) ?? { steps: stepsOf(path), methods: new Set<string>() }
    known.set(path, { ...entry, methods: entry.methods.add(method) })
  }
  const paths = [...known.values()]
  const elsewhere = routes.flatMap(({ other_paths = [], method, path }) =>
    other_paths.map((other): OtherPath => ({ steps: stepsOf(other), method, path })),
  )
  return ({ method, url }) => {
    const path = url.split('?', 1)[0]!
    const requested = stepsOf(path)
    const methods = paths.filter(({ steps }) => fits(steps, requested)).flatMap((entry) => [...entry.methods])
    const ofPages = pages
      .filter((page) => page.has_page?.(path) ?? fits(stepsOf(page.path), requested))
      .map((page) => page.method)
    if (ofPages.includes(method === 'HEAD' ? 'GET' : method))
      return new Problem('resource_missing', `There is no file ${cut(path, 200)}.`)
    const allowed = [...new Set([...methods, ...ofPages])].toSorted()
    const takes = allowed.length > 0 ? ` This path takes ${inWords(allowed)}.` : ''
    const others = allowed.length > 0 ? paths.filter((entry) => entry.methods.has(method)) : paths
    const hint = takes + (foreignPath(elsewhere, requested, method) ?? meantPath(others, requested, method))
    const message = `There is no operation ${method} ${cut(path, 200)}.${hint} The reference at /docs lists them all.`
    return new Problem(
      'resource_missing',
      message,
      allowed.length > 0 ? { headers: { allow: allowed.join(', ') } } : {},
    )
  }
}

/** A router would match them to a route with an id: `/things/export` for `/things/{id}`. */
export function pathsMistakenForIds(
  routes: readonly Pick<Route, 'method' | 'path'>[],
): Pick<Route, 'method' | 'path'>[] {
  const has = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  const known = routes.map(({ method, path }) => ({ method, path, steps: stepsOf(path) }))
  return [...new Map(known.map((one) => [one.path, one.steps]))].flatMap(([path, words]) => {
    const methods = new Set(known.filter(({ steps }) => isTakenFor(steps, words)).map(({ method }) => method))
    return [...methods].filter((method) => !has.has(`${method} ${path}`)).map((method) => ({ method, path }))
  })
}

const stepsOf = (path: string): string[] => path.split('/').slice(1)
const isParameter = (step: string): boolean => step.startsWith('{')

const fits = (steps: readonly string[], requested: readonly string[]): boolean =>
  steps.length === requested.length &&
  steps.every((step, at) => (isParameter(step) ? mayBe(step, requested[at]!) : step === requested[at]))

function isTakenFor(steps: readonly string[], words: readonly string[]): boolean {
  if (steps.length !== words.length) return false
  const differing = steps.flatMap((step, at) => (step === words[at] ? [] : [[step, words[at]!] as const]))
  return (
    differing.every(([step, word]) => isParameter(step) && !isParameter(word)) &&
    differing.some(([step, word]) => !mayBe(step, word))
  )
}

const mayBe = (parameter: string, word: string): boolean =>
  word.length <= paramLengthMax && (parameter.endsWith('id}') ? isId(word) : word !== '')

/** Of another service. */
function foreignPath(
  elsewhere: readonly OtherPath[],
  requested: readonly string[],
  method: string,
): string | undefined {
  const same = elsewhere.filter(
    ({ steps }) =>
      steps.length === requested.length && steps.every((step, at) => isParameter(step) || step === requested[at]),
  )
  const best = same.find((other) => other.method === method) ?? same[0]
  return best && ` Did you mean ${best.method} ${best.path}?`
}

/** Keeps the requested ids; empty if no path is near. */
function meantPath(paths: readonly KnownPath[], requested: readonly string[], method: string): string {
  if (requested.length > stepsMax) return ''
  const start = requested.findIndex((step) => !/^(api|v\d+)$/i.test(step))
  if (start === -1) return ''
  const versioned = ['v1', ...requested.slice(start)]
  const last = versioned.at(-1)!
  // some clients append the operation: `…/send`
  const best =
    nearestPath(paths, versioned, method) ??
    (isId(last) ? undefined : nearestPath(paths, versioned.slice(0, -1), method))
  if (best === undefined) return ''
  const named = best.methods.has(method) ? method : [...best.methods].toSorted().join(' or ')
  return ` Did you mean ${named} ${cut(best.path, 200)}?`
}

function nearestPath(
  paths: readonly KnownPath[],
  requested: readonly string[],
  method: string,
): { path: string; methods: Set<string> } | undefined {
  const candidates = paths
    .flatMap(({ steps, methods }) => {
      const path = correctedPath(steps, requested)
      return path === undefined ? [] : [{ path, methods }]
    })
    .toSorted(
      (one, other) =>
        Number(other.methods.has(method)) - Number(one.methods.has(method)) || one.path.length - other.path.length,
    )
  const requestedPath = `/${requested.map((step) => cut(step, wordLengthMax)).join('/')}`
  const path = nearest(
    requestedPath,
    candidates.map((candidate) => candidate.path),
  )
  return candidates.find((candidate) => candidate.path === path)
}

function correctedPath(steps: readonly string[], requested: readonly string[]): string | undefined {
  if (steps.length !== requested.length) return undefined
  const words: string[] = []
  for (const [at, step] of steps.entries()) {
    const word = requested[at]!
    if (isParameter(step) ? !mayBe(step, word) : word !== step && !isNear(word, step)) return undefined
    words.push(isParameter(step) ? cut(word, wordLengthMax) : step)
  }
  return `/${words.join('/')}`
}

const prefixes = new RegExp(`^(${Object.values(idPrefixes).join('|')})_`)

/** An id has one of our prefixes, or digits. */
const isId = (word: string): boolean => prefixes.test(word) || /[%\d]/.test(word)

const isNear = (word: string, known: string): boolean =>
  word !== '' && word.length <= wordLengthMax && nearest(word, [known]) !== undefined

const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** A name of another service, otherwise the nearest of `known`. */
export function meantField(
  field: string,
  known: readonly string[],
  otherNames: Readonly<Record<string, string>> = {},
): string | undefined {
  if (field.length > wordLengthMax) return undefined
  const plain = field.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const same = known.find((name) => name.replaceAll('_', '') === plain)
  return (
    same ??
    (Object.hasOwn(otherNames, plain) ? otherNames[plain] : undefined) ??
    (plain === '' ? undefined : nearest(field, known))
  )
}

export function namingUnknown(
  error: unknown,
  body: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string> | undefined,
  otherNames: Readonly<Record<string, string>> | undefined,
): unknown {
  if (known === undefined || !(error instanceof Problem) || error.status !== 400) return error
  const unknown = Object.keys(body).filter((field) => !known.has(field))
  if (unknown.length === 0) return error
  const free = [...known].filter((field) => !Object.hasOwn(body, field))
  const sentences = unknown.slice(0, fieldsNamedMax).map((field) => {
    const meant = meantField(field, free, otherNames)
    return ` \`${cut(field, wordLengthMax).toWellFormed()}\` is not known here.${meant === undefined ? '' : ` Did you mean \`${meant}\`?`}`
  })
  const more = unknown.length - sentences.length
  if (more > 0) sentences.push(` There ${more === 1 ? 'is 1 more' : `are ${more} more`} of that kind.`)
  const { param, details, headers } = error
  return new Problem(error.code, error.message + sentences.join(''), {
    param,
    details,
    ...(headers === undefined ? {} : { headers }),
  })
}
