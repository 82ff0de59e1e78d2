/** Addresses of the console, below `/console`, and their queries. */
import { useParams } from '@tanstack/react-router'

export type Mode = 'live' | 'test'

/** The account and the mode that a screen is about; they stand in its address. */
export interface Workspace {
  readonly account: string
  readonly mode: Mode
}

export const basePath = '/console'

const workspacePath = ({ account, mode }: Workspace, ...steps: readonly string[]): string =>
  ['', account, mode, ...steps].map((step, at) => (at === 0 ? step : encodeURIComponent(step))).join('/')

/** A screen of an account: `screen('messages', 'msg_1')` below its place. */
export const pathTo = (workspace: Workspace, ...steps: readonly string[]): string => workspacePath(workspace, ...steps)

/** Outside of any account. */
export const paths = {
  start: '/',
  setUp: '/setup',
  signIn: '/sign-in',
  reset: '/reset',
  invitation: '/invitation',
  profile: '/profile',
  admin: '/admin',
} as const

/** Where signing in leads back to. Only addresses of the console are taken from outside. */
export function ownPath(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return paths.start
  const url = new URL(next, 'http://own.invalid')
  return url.host === 'own.invalid' ? url.pathname + url.search : paths.start
}

/** The same screen for another account or mode: its list where it shows one object, for objects belong to a mode. */
export function pathInWorkspace(here: string, workspace: Workspace): string {
  const [, , , section] = here.split('/')
  return section === undefined || section === ''
    ? workspacePath(workspace)
    : workspacePath(workspace, decodeURIComponent(section))
}

export type Query = Readonly<Record<string, string>>

export const parseQuery = (search: string): Query => Object.fromEntries(new URLSearchParams(search))

/** With its question mark, or nothing. What is empty is left out. */
export function queryText(query: Readonly<Record<string, unknown>>): string {
  const kept = Object.entries(query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  )
  const written = new URLSearchParams(kept).toString()
  return written === '' ? '' : `?${written}`
}

/** The account and mode of the screen, from its address. */
export function useWorkspace(): Workspace {
  const { account, mode } = useParams({ strict: false }) as { account?: string; mode?: Mode }
  if (account === undefined || mode === undefined) throw new Error('this part stands in a screen of an account')
  return { account, mode }
}
