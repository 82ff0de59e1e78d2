/** Typed clients of the API. */
import createClient, { type Client } from 'openapi-fetch'
import type { Workspace } from '../app/paths.ts'
import { text } from '../text/en.ts'
import type { paths as OwnPaths } from './generated/own.ts'
import type { paths as V1Paths } from './generated/v1.ts'
import { sessionEnd } from './session-events.ts'

/** CSRF protection: foreign sites need a preflight for this header. */
const fromConsole = { 'Service-Console': '1' }

const v1Clients = new Map<string, Client<V1Paths>>()
const ownClients = new Map<string, Client<OwnPaths>>()

export const v1 = (workspace: Workspace): Client<V1Paths> =>
  cachedClient(v1Clients, workspace, (headers) => createClient<V1Paths>({ baseUrl: '/console/api', headers }))

export const own = (workspace?: Workspace): Client<OwnPaths> =>
  cachedClient(ownClients, workspace, (headers) => createClient<OwnPaths>({ headers }))

function cachedClient<C>(
  clients: Map<string, C>,
  workspace: Workspace | undefined,
  make: (headers: Record<string, string>) => C,
): C {
  const name = workspace === undefined ? '' : `${workspace.account} ${workspace.mode}`
  const known = clients.get(name)
  if (known !== undefined) return known
  const client = make(
    workspace === undefined
      ? fromConsole
      : { ...fromConsole, 'Service-Account': workspace.account, 'Service-Mode': workspace.mode },
  )
  clients.set(name, client)
  return client
}

export interface ApiResponse<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

export async function unwrap<T>(request: Promise<ApiResponse<T>>): Promise<T> {
  const since = sessionEnd.now()
  const { data, error, response } = await request
  if (response.ok) return data as T
  const problem = problemIn(response.status, error)
  if (problem.code === 'session_required') sessionEnd.report(since)
  throw problem
}

interface Detail {
  readonly param: string
  readonly code: string
  readonly message: string
}

/** `code`: the API's error code, `network` without a response, `unexpected` for an unreadable one. */
export class Problem extends Error {
  readonly code: string
  readonly status: number
  readonly param: string | undefined
  readonly details: readonly Detail[]
  readonly request_id: string | undefined

  constructor(
    status: number,
    body: { code: string; message: string; param?: string; details?: readonly Detail[]; request_id?: string },
  ) {
    super(body.message)
    this.name = 'Problem'
    this.status = status
    this.code = body.code
    this.param = body.param
    this.details =
      body.details ?? (body.param === undefined ? [] : [{ param: body.param, code: body.code, message: body.message }])
    this.request_id = body.request_id
  }

  about(param: string): string | undefined {
    return this.details.find(
      (detail) =>
        detail.param === param || detail.param.startsWith(`${param}.`) || detail.param.startsWith(`${param}[`),
    )?.message
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(0, { code: 'network', message: text.problem.network })
}

export function problemIn(status: number, body: unknown): Problem {
  const error = (body as { error?: unknown } | undefined)?.error
  if (typeof error === 'object' && error !== null && 'code' in error)
    return new Problem(status, error as ConstructorParameters<typeof Problem>[1])
  return new Problem(status, { code: 'unexpected', message: text.problem.unexpected })
}
