/** The clients of the API: their types are generated, every request says that it comes from the console, and what is refused is thrown as a Problem. */
import createClient, { type Client } from 'openapi-fetch'
import type { Place } from '../paths.ts'
import type { paths as OwnPaths } from './generated/own.ts'
import type { paths as V1Paths } from './generated/v1.ts'
import { problemIn } from './problem.ts'
import { sessionEnd } from './session-end.ts'

/** Foreign sites cannot send it without being asked first. */
const fromConsole = { 'Service-Console': '1' }

const v1Clients = new Map<string, Client<V1Paths>>()
const ownClients = new Map<string, Client<OwnPaths>>()

/** The operations of `/v1` for an account and a mode. */
export const v1 = (place: Place): Client<V1Paths> =>
  kept(v1Clients, place, (headers) => createClient<V1Paths>({ baseUrl: '/console/api', headers }))

/** The console's own operations; with a place those of an account. */
export const own = (place?: Place): Client<OwnPaths> =>
  kept(ownClients, place, (headers) => createClient<OwnPaths>({ headers }))

function kept<C>(clients: Map<string, C>, place: Place | undefined, make: (headers: Record<string, string>) => C): C {
  const name = place === undefined ? '' : `${place.account} ${place.mode}`
  const known = clients.get(name)
  if (known !== undefined) return known
  const client = make(
    place === undefined
      ? fromConsole
      : { ...fromConsole, 'Service-Account': place.account, 'Service-Mode': place.mode },
  )
  clients.set(name, client)
  return client
}

export interface Answer<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

/** What was answered. Throws a Problem where it was refused; where the session has ended everybody is told. */
export async function answered<T>(request: Promise<Answer<T>>): Promise<T> {
  const since = sessionEnd.now()
  const { data, error, response } = await request
  if (response.ok) return data as T
  const problem = problemIn(response.status, error)
  if (problem.code === 'session_required') sessionEnd.tell(since)
  throw problem
}
