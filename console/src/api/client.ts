/** The clients of the API: their types are generated, every request says that it comes from the console, and what is refused is thrown as a Problem. */
import createClient, { type Client } from 'openapi-fetch'
import type { Workspace } from '../app/paths.ts'
import { text } from '../text/en.ts'
import type { paths as OwnPaths } from './generated/own.ts'
import type { paths as V1Paths } from './generated/v1.ts'
import { sessionEnd } from './session-events.ts'

/** Foreign sites cannot send it without being asked first. */
const fromConsole = { 'Service-Console': '1' }

const v1Clients = new Map<string, Client<V1Paths>>()
const ownClients = new Map<string, Client<OwnPaths>>()

/** The operations of `/v1` for an account and a mode. */
export const v1 = (workspace: Workspace): Client<V1Paths> =>
  kept(v1Clients, workspace, (headers) => createClient<V1Paths>({ baseUrl: '/console/api', headers }))

/** The console's own operations; with a place those of an account. */
export const own = (workspace?: Workspace): Client<OwnPaths> =>
  kept(ownClients, workspace, (headers) => createClient<OwnPaths>({ headers }))

function kept<C>(
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

/** What was answered. Throws a Problem where it was refused; where the session has ended everybody is told. */
export async function unwrap<T>(request: Promise<ApiResponse<T>>): Promise<T> {
  const since = sessionEnd.now()
  const { data, error, response } = await request
  if (response.ok) return data as T
  const problem = problemIn(response.status, error)
  if (problem.code === 'session_required') sessionEnd.tell(since)
  throw problem
}

/** What a request answered when it did not do what was asked: the API's error envelope, or that nothing was heard. */
interface Detail {
  readonly param: string
  readonly code: string
  readonly message: string
}

/** `code` is the API's, or `network` where no answer came, or `unexpected` where it was not understood. */
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

  /** What is wrong with the field of this name, or with something in it. */
  about(param: string): string | undefined {
    return this.details.find(
      (detail) =>
        detail.param === param || detail.param.startsWith(`${param}.`) || detail.param.startsWith(`${param}[`),
    )?.message
  }
}

/** Whatever was thrown, as a problem. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(0, { code: 'network', message: text.problem.network })
}

/** The problem in the answer with this status and body. */
export function problemIn(status: number, body: unknown): Problem {
  const error = (body as { error?: unknown } | undefined)?.error
  if (typeof error === 'object' && error !== null && 'code' in error)
    return new Problem(status, error as ConstructorParameters<typeof Problem>[1])
  return new Problem(status, { code: 'unexpected', message: text.problem.unexpected })
}
