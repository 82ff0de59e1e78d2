/** Routes as data. Validation, OpenAPI and the docs derive from them. */
import type { Static, TObject, TSchema } from 'typebox'
import type { IncomingMessage } from 'node:http'
import type { Caller, Mode } from '../../api/caller.ts'
import type { Detail, ErrorCode } from '../../api/errors.ts'
import type { Scope } from '../../api/scopes.ts'
import type { Db } from '../database/sql.ts'
import type { Settings } from '../../config/settings.ts'
import type { ItemsApart } from './body.ts'

export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Of a streamed request body, stored with the Idempotency-Key; never sent. */
  readonly digest?: string
}

/** In the transaction of the effect. Throws `idempotency_key_in_use` if another request has claimed the key. */
export type StoreReply = (tx: Db, reply: Reply) => Promise<void>

/** For the object that the reply shows. */
export type StoreAnswer<Shown> = (tx: Db, shown: Shown) => Promise<void>

export interface RouteRequest<Q, B> {
  readonly caller: Caller
  /** Unchecked: handlers answer malformed ids with 404. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Q
  readonly body: B
  /** With an Idempotency-Key, the transaction that stores the key. */
  readonly sql: Db
  readonly keep: StoreReply
  readonly idempotency_key: string | undefined
  readonly arrived_at: number
  /** Null for an API key. */
  readonly session: unknown
  /** The unread request of a streamed route. */
  readonly raw: IncomingMessage
  readonly signal: AbortSignal
  /** Call it when the body needs no more checks: the account's next large body is checked then, not after the response. */
  readonly bodyChecked: () => void
}

/** Not authenticated yet. */
export interface SignedRequest {
  readonly params: Readonly<Record<string, string>>
  readonly raw: IncomingMessage
  readonly arrived_at: number
  /** Within the memory budget of `sender`. Problems: payload_too_large; invalid_json for an incomplete body. */
  readBody(sender: string): Promise<Buffer>
}

type RateLimitSetting = Extract<keyof Settings, `rate_limit_${string}`>

export interface RouteDefinition<Q extends TObject, B extends TSchema> {
  /** Operation id (behaviour: operating 1.2), such as `messages.list_events`. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Null: any valid key. */
  readonly scope: Scope | null
  /** A source key instead of an API key. */
  readonly source_key?: boolean
  readonly mode?: Mode
  readonly summary: string
  readonly description?: string
  readonly tag: string
  /**
   * In the transaction of the operation (default), under a lease for operations with a network call, or by the handler.
   */
  readonly idempotent?: 'transaction' | 'lease' | 'own'
  readonly query?: Q
  readonly body?: B
  /** Default: true if the schema requires no field (behaviour: conventions 4.3). */
  readonly body_optional?: boolean
  /** The schema is only for the documents. */
  readonly body_unchecked?: boolean
  /** Only if the schema fails, so that one response lists all failures; the handler still checks. */
  readonly inspect?: (body: Readonly<Record<string, unknown>>) => readonly Detail[]
  /** Invalid items reach the handler as `UnfitItem`. */
  readonly items_apart?: ItemsApart
  readonly known_fields?: readonly string[]
  /** Field names of other services (lower-case letters and digits), for suggestions. */
  readonly other_names?: Readonly<Record<string, string>>
  readonly other_paths?: readonly string[]
  /** Ignored nested fields, to report. */
  readonly ignored_within?: (body: Readonly<Record<string, unknown>>) => readonly string[]
  /** Default 1 MB. */
  readonly body_bytes_max?: number
  /** Members of objects and elements of arrays; default 20,000 (behaviour: conventions 4.6). */
  readonly body_members_max?: number
  /** Different names of fields; default 5,000. */
  readonly body_names_max?: number
  /** The handler reads `raw`, without limit, parsing or validation. */
  readonly streamed?: boolean
  /** For the documents: by content type. */
  readonly uploads?: Readonly<Record<string, { readonly schema: TSchema; readonly example?: string }>>
  /** For the documents; default: the smallest valid one. */
  readonly example_body?: object
  /** For the documents. */
  readonly example_query?: string
  /** Of a repeated streamed body; null for an unreadable one. */
  readonly digestOf?: (request: Pick<RouteRequest<Static<Q>, Static<B>>, 'query' | 'raw'>) => Promise<string | null>
  /** Per second and key; default `rate_limit_default`. */
  readonly rate_limit?: RateLimitSetting
  /** For reads that may take seconds: `sql` is a transaction of the read pool, with its errors 429 and 503. */
  readonly expensive?: {
    /** Default: all requests. */
    readonly when?: (query: Static<Q>) => boolean
    readonly narrow: string
  }
  /** Before the Idempotency-Key is looked up: no reply is replayed without the permission. */
  readonly permit?: (request: RouteRequest<Static<Q>, Static<B>>) => void
  /** Checks rights that depend on fields of the body, before its shape: any field may have any value. */
  readonly authorize?: (request: RouteRequest<unknown, Readonly<Record<string, unknown>>>) => void
  /** Encrypted (behaviour: idempotency 3.4). */
  readonly secret_reply?: boolean
  /** A string is a non-JSON content type, with a string, Buffer or Readable as the body; declare 304 with ''. */
  readonly replies: Readonly<Record<number, TSchema | string>>
  /** Answers `Accept: text/csv` with 200; an Idempotency-Key has no effect then. */
  readonly csv?: (request: RouteRequest<Static<Q>, Static<B>>) => Promise<Reply>
  /** For the documents: the handler sends `ETag` and honours `If-None-Match`. */
  readonly etag?: boolean
  readonly errors: readonly ErrorCode[]
  readonly handler: (request: RouteRequest<Static<Q>, Static<B>>) => Promise<Reply>
  readonly signedHandler?: (request: SignedRequest) => Promise<Reply>
}

export type Route = RouteDefinition<TObject, TSchema>

export function route<Q extends TObject, B extends TSchema>(definition: RouteDefinition<Q, B>): Route {
  return definition as unknown as Route
}

type SignedDefinition = Omit<RouteDefinition<TObject, TSchema>, 'handler' | 'scope' | 'signedHandler'> &
  Required<Pick<RouteDefinition<TObject, TSchema>, 'signedHandler'>>

/** The raw body is signed. No rate limit; the query and Idempotency-Keys are ignored. */
export const signedRoute = (definition: SignedDefinition): Route => ({
  ...definition,
  scope: null,
  streamed: true,
  handler: () => Promise.reject(new Error(`${definition.method} ${definition.path} has no caller`)),
})

export const storingReply =
  (keep: StoreReply, status: number): StoreAnswer<unknown> =>
  (tx, shown) =>
    keep(tx, reply(status, shown))

export const reply = (status: number, body: unknown, headers?: Record<string, string>): Reply =>
  headers === undefined ? { status, body } : { status, body, headers }
