/** A route is one row: method, path, scope, schemas, errors, handler. Validation, OpenAPI and the docs derive from it. */
import type { Static, TObject, TSchema } from 'typebox'
import type { IncomingMessage } from 'node:http'
import type { Caller, Mode } from '../../api/caller.ts'
import type { Detail, ErrorCode } from '../../api/errors.ts'
import type { Scope } from '../../api/scopes.ts'
import type { Db } from '../database/sql.ts'
import type { Settings } from '../../config/settings.ts'
import type { ItemsApart } from './body.ts'

/** What a handler answers. The body's schema is the one declared for this status in `replies`. */
export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Of a streamed body: what tells it from another one. Kept with the Idempotency-Key, never sent. */
  readonly digest?: string
}

/**
 * Keeps the reply under the request's Idempotency-Key in the transaction of the operation's effect, so that a crash leaves both or neither. Throws
 * `idempotency_key_in_use` where the key was taken over meanwhile; does nothing for a request without one, and where the key is kept in some other way.
 */
export type KeepReply = (tx: Db, reply: Reply) => Promise<void>

export interface RouteRequest<Q, B> {
  readonly caller: Caller
  /** Path parameters, undecorated: a wrong shape is for the service to answer with 404. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Q
  readonly body: B
  /** The pool; inside a route with `idempotent: 'transaction'` and an Idempotency-Key, the transaction that also writes the key; for an expensive read its own. */
  readonly sql: Db
  /** For routes with `idempotent: 'lease'`: keeps the reply in the transaction of the effect, so that a crash after it is answered as if there had been none. */
  readonly keep: KeepReply
  /** The Idempotency-Key, for routes with `idempotent: 'own'`. */
  readonly idempotency_key: string | undefined
  /** The moment the request arrived, in milliseconds of the platform's clock. */
  readonly arrived_at: number
  /** What the guard knows of who came through it (`guard.ts`); null for a key. */
  readonly session: unknown
  /** For routes with `streamed: true`: the unread request. */
  readonly raw: IncomingMessage
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
}

/** What `take` of a signed route is given: nobody has been asked for a key. */
export interface SignedRequest {
  readonly params: Readonly<Record<string, string>>
  /** Its body unread. */
  readonly raw: IncomingMessage
  /** As of `RouteRequest`. */
  readonly arrived_at: number
  /** The whole body, once it is known that somebody waits for it; takes room of `sender` while it arrives. Refusals: payload_too_large, invalid_json for one that breaks off. */
  readBody(sender: string): Promise<Buffer>
}

/** The settings that are rates of requests. */
type RateLimitSetting = Extract<keyof Settings, `rate_limit_${string}`>

export interface RouteDefinition<Q extends TObject, B extends TSchema> {
  /** Its name in documents and clients (behaviour: operating 1.2): the resource that the path begins with, a dot, what is done, such as `messages.list_events`. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With parameters in braces, such as `{id}`. */
  readonly path: string
  /** null: any accepted key. */
  readonly scope: Scope | null
  /** It takes the key of an integration source, and no API key. */
  readonly source_key?: boolean
  /** The only mode whose keys may call it (`live_mode_required`, `test_mode_required`). */
  readonly mode?: Mode
  readonly summary: string
  readonly description?: string
  readonly tag: string
  /**
   * How a POST keeps its Idempotency-Key: with the operation in one transaction (the default for POST); under a lease, where
   * the operation makes a network call; or by itself, in a transaction of its own making.
   */
  readonly idempotent?: 'transaction' | 'lease' | 'own'
  readonly query?: Q
  readonly body?: B
  /** The body may be absent, with any content type or none (behaviour: conventions 4.3). Default: true when the schema requires no field. */
  readonly body_optional?: boolean
  /** The handler validates the body itself, in rounds of its own; the schema is for the documents. */
  readonly body_unchecked?: boolean
  /**
   * What the handler would refuse beyond the schema, of the fields that the body holds. Asked only where the schema refuses something, so that one
   * round tells everything; the handler checks for itself.
   */
  readonly inspect?: (body: Readonly<Record<string, unknown>>) => readonly Detail[]
  /** The array of the body whose first `items_max` items are judged each on its own: one that no field may hold reaches the handler as an `UnfitItem`. */
  readonly items_apart?: ItemsApart
  /** Top-level body fields that count as known although the schema does not name them. */
  readonly known_fields?: readonly string[]
  /** What other services call its fields, in small letters and digits alone, and the field that is meant: for the texts of refusals. */
  readonly other_names?: Readonly<Record<string, string>>
  /** What other services call the operation, with parameters in braces: for the texts of refusals too. */
  readonly other_paths?: readonly string[]
  /** Paths of fields within the body that the operation takes no notice of, though its schema lets them through: they are named as those at the top are. */
  readonly ignored_within?: (body: Readonly<Record<string, unknown>>) => readonly string[]
  /** The body limit in bytes; default 1 MB. */
  readonly body_bytes_max?: number
  /** The handler reads `raw` itself; no body limit, parsing or validation. */
  readonly streamed?: boolean
  /** For routes with `streamed: true`, for the documents: what the body may be, by content type. */
  readonly uploads?: Readonly<Record<string, { readonly schema: TSchema; readonly example?: string }>>
  /** The body of the example in the documents; default: the smallest that the schema takes. */
  readonly example_body?: object
  /** The query of the example in the documents, where the operation is refused without one. */
  readonly example_query?: string
  /** For routes with `streamed: true`: reads a body that came again, without effect. Resolves to the `digest` of its Reply, or null for one that cannot be read. */
  readonly digestOf?: (request: Pick<RouteRequest<Static<Q>, Static<B>>, 'query' | 'raw'>) => Promise<string | null>
  /** The setting that says how many requests a second a key may send to this operation; default `rate_limit_default`. */
  readonly rate_limit?: RateLimitSetting
  /**
   * For what may cost seconds: `sql` is a transaction of the expensive reads (`platform/expensive-reads.ts`), which ends with the caller; 429 where its turn
   * does not come, 503 where it takes too long.
   */
  readonly expensive?: {
    /** The requests that may; by default all of them. */
    readonly when?: (query: Static<Q>) => boolean
    /** What makes such a read shorter: a sentence. */
    readonly narrow: string
  }
  /** Throws what is refused for who asks, by what the body asks for: before the Idempotency-Key is looked up, so that nobody is replayed what they may not do any more. */
  readonly permit?: (request: RouteRequest<Static<Q>, Static<B>>) => void
  /** The stored reply holds a secret and is encrypted (behaviour: idempotency 3.4). */
  readonly secret_reply?: boolean
  /**
   * Every status that the handler answers, with the body's schema; a string instead of a schema names a non-JSON content type,
   * whose body is then a string, a Buffer or a Readable. 304 has no body; declare it with ''.
   */
  readonly replies: Readonly<Record<number, TSchema | string>>
  /**
   * Answers 200 with CSV where the `Accept` of the request asks for it: a Readable, which takes turns of its own among the expensive reads. An
   * Idempotency-Key has no effect then.
   */
  readonly csv?: (request: RouteRequest<Static<Q>, Static<B>>) => Promise<Reply>
  /** Its answers carry an `ETag`, and it takes `If-None-Match`: for the documents, the handler does both. */
  readonly etag?: boolean
  /** Codes beyond those that every route can answer. */
  readonly errors: readonly ErrorCode[]
  readonly handler: (request: RouteRequest<Static<Q>, Static<B>>) => Promise<Reply>
  /** Of a signed route, which `signedRoute` declares. */
  readonly take?: (request: SignedRequest) => Promise<Reply>
}

export type Route = RouteDefinition<TObject, TSchema>

/** Declares a route; the types of `query` and `body` follow from their schemas. */
export function route<Q extends TObject, B extends TSchema>(definition: RouteDefinition<Q, B>): Route {
  return definition as unknown as Route
}

type SignedDefinition = Omit<RouteDefinition<TObject, TSchema>, 'handler' | 'scope' | 'take'> &
  Required<Pick<RouteDefinition<TObject, TSchema>, 'take'>>

/**
 * Declares a route that takes no key: a signature over the raw body stands in for it, which `take` checks, as everything else. It has no rate limit; a query and an
 * Idempotency-Key mean nothing to it.
 */
export const signedRoute = (definition: SignedDefinition): Route => ({
  ...definition,
  scope: null,
  streamed: true,
  handler: () => Promise.reject(new Error(`${definition.method} ${definition.path} has no caller`)),
})

/** Keeps what is shown as the body of a reply with this status. */
export const keeping =
  (keep: KeepReply, status: number) =>
  (tx: Db, shown: unknown): Promise<void> =>
    keep(tx, reply(status, shown))

/** A reply with this status and body. */
export const reply = (status: number, body: unknown, headers?: Record<string, string>): Reply =>
  headers === undefined ? { status, body } : { status, body, headers }
