/** URLs of the console, relative to `/console`, and their query strings. */
import { useParams } from '@tanstack/react-router'

export type Mode = 'live' | 'test'

export interface Workspace {
  readonly account: string
  readonly mode: Mode
}

export const basePath = '/console'

const workspacePath = ({ account, mode }: Workspace, ...steps: readonly string[]): string =>
  ['', account, mode, ...steps].map((step, at) => (at === 0 ? step : encodeURIComponent(step))).join('/')

/** `pathTo(workspace, 'messages', 'msg_1')` */
export const pathTo = (workspace: Workspace, ...steps: readonly string[]): string => workspacePath(workspace, ...steps)

export const paths = {
  start: '/',
  setUp: '/setup',
  signIn: '/sign-in',
  reset: '/reset',
  confirmEmail: '/confirm-email',
  invitation: '/invitation',
  profile: '/profile',
  admin: '/admin',
} as const

/** Rejects URLs of other sites. */
export function ownPath(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return paths.start
  const url = new URL(next, 'http://own.invalid')
  return url.host === 'own.invalid' ? url.pathname + url.search : paths.start
}

/** Screens of one object lead to its list, because objects belong to one mode. */
export function pathInWorkspace(here: string, workspace: Workspace): string {
  const [, , , section] = here.split('/')
  return section === undefined || section === ''
    ? workspacePath(workspace)
    : workspacePath(workspace, decodeURIComponent(section))
}

export type Query = Readonly<Record<string, string>>

export const parseQuery = (search: string): Query => Object.fromEntries(new URLSearchParams(search))

export function queryText(query: Readonly<Record<string, unknown>>): string {
  const kept = Object.entries(query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  )
  const written = new URLSearchParams(kept).toString()
  return written === '' ? '' : `?${written}`
}

export function useWorkspace(): Workspace {
  const { account, mode } = useParams({ strict: false }) as { account?: string; mode?: Mode }
  if (account === undefined || mode === undefined) throw new Error('this part stands in a screen of an account')
  return { account, mode }
}
