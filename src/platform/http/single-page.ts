/** Serves a single-page application: one HTML page with a nonce, and immutable hashed files. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface SinglePage {
  /** Such as `/console`, with files below `assets/` and an API below `api/`. */
  readonly path: string
  /** With `index.html` and `assets/`; if missing, nothing is mounted. */
  readonly folder: string
  readonly is_https: boolean
}

const noncePlaceholder = /__NONCE__/g
const yearSeconds = 31_536_000

export function mountSinglePage(server: FastifyInstance, { path, folder, is_https }: SinglePage): void {
  const page = join(folder, 'index.html')
  if (!existsSync(page)) return
  const send = async (reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64')
    // read each time, because a newer build has other files
    const text = (await readFile(page, 'utf8')).replaceAll(noncePlaceholder, nonce)
    return reply.headers(pageHeaders(nonce, is_https)).type('text/html; charset=utf-8').send(text)
  }
  server.get(path, { exposeHeadRoute: true }, (_request, reply) => send(reply))
  const isApiPath = (pathname: string): boolean => `${pathname}/`.startsWith(`${path}/api/`)
  const has_page = (pathname: string): boolean => pathname.startsWith(`${path}/`) && !isApiPath(pathname)
  server.get(`${path}/*`, { exposeHeadRoute: true, config: { has_page } }, (request, reply) => {
    const below = (request.params as { '*': string })['*']
    return isApiPath(`${path}/${below}`) ? reply.callNotFound() : send(reply)
  })
  void server.register(async (files) => {
    files.setErrorHandler((error, _request, reply) => {
      if ((error as { code?: unknown }).code !== 'FST_STATIC_FORBIDDEN_PATH') throw error
      reply.callNotFound()
    })
    // not an error: the client has another version, whose files differ
    files.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
      delete headers['if-match']
      delete headers['if-unmodified-since']
      done()
    })
    await files.register(import('@fastify/static'), {
      root: join(folder, 'assets'),
      prefix: `${path}/assets/`,
      decorateReply: false,
      index: false,
      preCompressed: true,
      acceptRanges: false,
      immutable: true,
      maxAge: yearSeconds * 1000,
    })
  })
}

/** Allows scripts from this origin, and styles with the nonce. */
const pageHeaders = (nonce: string, is_https: boolean): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  ...(is_https ? { 'strict-transport-security': `max-age=${yearSeconds}` } : {}),
})
